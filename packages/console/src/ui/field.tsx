import type { ReactNode } from 'react'
import {
  Checkbox as AriaCheckbox,
  Select as AriaSelect,
  Switch as AriaSwitch,
  TextField as AriaTextField,
  Button,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
  TextArea,
  ToggleButton,
  ToggleButtonGroup,
} from 'react-aria-components'
import styles from './field.module.css'
import { Icon, type IconName } from './icon.tsx'
import overlay from './overlay.module.css'

interface Labelled {
  readonly label: string
  /** The label is for screen readers alone. */
  readonly hidesLabel?: boolean
  readonly hint?: ReactNode
  /** What the interface said of this field. */
  readonly fault?: string | undefined
}

interface TextFieldProps extends Labelled {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onBlur?: () => void
  readonly type?: 'text' | 'password' | 'email' | 'search' | 'number' | 'date' | 'time'
  readonly autoComplete?: string
  readonly placeholder?: string
  readonly lines?: number
  readonly isRequired?: boolean
  readonly isReadOnly?: boolean
  readonly autoFocus?: boolean
  readonly maxLength?: number
  readonly inputMode?: 'numeric' | 'text'
}

export function TextField({ label, hidesLabel, hint, fault, placeholder, lines, ...field }: TextFieldProps) {
  const input = { className: styles.input ?? '', placeholder: placeholder ?? '' }
  return (
    <AriaTextField
      {...field}
      type={field.type ?? 'text'}
      className={styles.field ?? ''}
      isInvalid={fault !== undefined}
      validationBehavior="aria"
      {...(hidesLabel && { 'aria-label': label })}
    >
      {!hidesLabel && <Label className={styles.label}>{label}</Label>}
      {lines ? <TextArea {...input} rows={lines} dir="auto" /> : <Input {...input} dir="auto" />}
      <Below hint={hint} fault={fault} />
    </AriaTextField>
  )
}

function Below({ hint, fault }: Pick<Labelled, 'hint' | 'fault'>) {
  return (
    <>
      {hint && (
        <Text slot="description" className={styles.hint ?? ''}>
          {hint}
        </Text>
      )}
      <FieldError className={styles.fault ?? ''}>{fault}</FieldError>
    </>
  )
}

export interface Option<Id extends string> {
  readonly id: Id
  readonly label: string
  readonly hint?: string
  readonly isDisabled?: boolean
}

interface SelectProps<Id extends string> extends Labelled {
  readonly options: readonly Option<Id>[]
  readonly value: Id | undefined
  readonly onChange: (value: Id) => void
  readonly placeholder?: string
  readonly isDisabled?: boolean
}

export function Select<Id extends string>({
  label,
  hidesLabel,
  hint,
  fault,
  options,
  value,
  onChange,
  placeholder,
  isDisabled = false,
}: SelectProps<Id>) {
  return (
    <AriaSelect
      className={styles.field ?? ''}
      value={value ?? null}
      onChange={(key) => key !== null && onChange(key as Id)}
      isInvalid={fault !== undefined}
      isDisabled={isDisabled}
      placeholder={placeholder ?? ''}
      {...(hidesLabel && { 'aria-label': label })}
    >
      {!hidesLabel && <Label className={styles.label}>{label}</Label>}
      <Button className={styles.trigger ?? ''}>
        <SelectValue className={styles.value ?? ''}>
          {({ selectedText, defaultChildren }) => selectedText || defaultChildren}
        </SelectValue>
        <Icon name="down" size={14} />
      </Button>
      <Below hint={hint} fault={fault} />
      <Popover className={overlay.popover ?? ''}>
        <ListBox items={options}>
          {(option) => (
            <ListBoxItem
              id={option.id}
              textValue={option.label}
              className={overlay.item ?? ''}
              isDisabled={option.isDisabled ?? false}
            >
              <span className={overlay.itemText}>
                {option.label}
                {option.hint && <span className={overlay.itemHint}>{option.hint}</span>}
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  )
}

interface ChoiceProps {
  readonly isSelected: boolean
  readonly onChange: (isSelected: boolean) => void
  readonly isDisabled?: boolean
  readonly children: ReactNode
}

export function Checkbox({ children, ...choice }: ChoiceProps) {
  return (
    <AriaCheckbox {...choice} className={styles.choice ?? ''}>
      <span className={styles.box}>
        <Icon name="check" size={14} />
      </span>
      <span>{children}</span>
    </AriaCheckbox>
  )
}

export function Switch({ children, ...choice }: ChoiceProps) {
  return (
    <AriaSwitch {...choice} className={styles.choice ?? ''}>
      <span className={styles.switch} />
      <span>{children}</span>
    </AriaSwitch>
  )
}

/** One of few, all of them seen. */
export function Segments<Id extends string>({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string
  readonly options: readonly { readonly id: Id; readonly label: string; readonly icon?: IconName }[]
  readonly value: Id
  readonly onChange: (value: Id) => void
}) {
  return (
    <ToggleButtonGroup
      className={styles.segments ?? ''}
      aria-label={label}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const [first] = keys
        if (first !== undefined) onChange(first as Id)
      }}
    >
      {options.map((option) => (
        <ToggleButton
          key={option.id}
          id={option.id}
          className={styles.segment ?? ''}
          aria-label={option.label}
        >
          {option.icon ? <Icon name={option.icon} size={16} /> : option.label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  )
}
