import {
  ComboBox as AriaComboBox,
  Button,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from 'react-aria-components'
import styles from './field.module.css'
import type { Option } from './field.tsx'
import { Icon } from './icon.tsx'
import overlay from './overlay.module.css'

/** One of many, found by typing. */
export function ComboBox<Id extends string>({
  label,
  hint,
  fault,
  options,
  value,
  onChange,
}: {
  readonly label: string
  readonly hint?: string
  readonly fault?: string | undefined
  readonly options: readonly Option<Id>[]
  readonly value: Id
  readonly onChange: (value: Id) => void
}) {
  return (
    <AriaComboBox
      className={styles.field ?? ''}
      defaultItems={options}
      selectedKey={value}
      onSelectionChange={(key) => key !== null && key !== value && onChange(key as Id)}
      isInvalid={fault !== undefined}
      validationBehavior="aria"
      menuTrigger="focus"
    >
      <Label className={styles.label}>{label}</Label>
      <div className={styles.combo}>
        <Input className={styles.input ?? ''} onFocus={(event) => event.currentTarget.select()} />
        <Button className={styles.comboButton ?? ''}>
          <Icon name="down" size={14} />
        </Button>
      </div>
      {hint && (
        <Text slot="description" className={styles.hint ?? ''}>
          {hint}
        </Text>
      )}
      <FieldError className={styles.fault ?? ''}>{fault}</FieldError>
      <Popover className={overlay.popover ?? ''}>
        <ListBox<Option<Id>>>
          {(option) => (
            <ListBoxItem id={option.id} textValue={option.label} className={overlay.item ?? ''}>
              {option.label}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  )
}
