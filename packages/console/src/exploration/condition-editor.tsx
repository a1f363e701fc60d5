import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import type { DimensionMeta, Meta } from '../data/format.ts'
import { titleOf } from '../data/result.ts'
import { useMeta } from '../data/statistics.ts'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { Button } from '../ui/button.tsx'
import { Select, TextField } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { PopoverButton } from '../ui/popover.tsx'
import styles from './exploration.module.css'
import { cohortsQuery } from './rows.ts'
import { SearchList } from './search-list.tsx'
import {
  type Condition,
  cohortMember,
  isConditionMember,
  isPresence,
  type Operator,
  operatorsFor,
} from './selection.ts'
import { words } from './texts.ts'
import { ValuesList } from './values-list.tsx'

/** A condition as a sentence: "Device type is mobile or tablet". */
export function useSentence(): (condition: Condition) => string {
  const t = useTexts(words)
  const meta = useMeta().data
  const { data: cohorts = [] } = useQuery({ ...cohortsQuery, enabled: false })
  return ({ member, operator, values }) => {
    const names =
      member === cohortMember
        ? values.map((id) => cohorts.find((each) => each.id === id)?.name ?? id)
        : values
    const shown = names.length > 2 ? [...names.slice(0, 2), `+${names.length - 2}`] : names
    return [titleOf(meta, member), t.operators[operator], shown.join(t.or)].filter(Boolean).join(' ')
  }
}

/** Filters as chips that open, and a button for a further one. */
export function ConditionChips({
  conditions,
  onChange,
  isOffered = isConditionMember,
}: {
  readonly conditions: readonly Condition[]
  readonly onChange: (conditions: readonly Condition[]) => void
  /** The members that a condition may be about; dimensions of events by default. */
  readonly isOffered?: IsOffered | undefined
}) {
  const t = useTexts(words)
  const sentence = useSentence()
  // Names of cohorts are asked for where one is named.
  useQuery({ ...cohortsQuery, enabled: conditions.some(({ member }) => member === cohortMember) })
  return (
    <div className={styles.chips}>
      {conditions.map((condition, index) => {
        const key = `${index}/${condition.member}`
        return (
          <Chip
            key={key}
            text={sentence(condition)}
            onRemove={() => onChange(conditions.toSpliced(index, 1))}
          >
            <PopoverButton
              label={t.filter}
              trigger={
                <AriaButton className={styles.chipText ?? ''}>
                  <span dir="auto">{sentence(condition)}</span>
                </AriaButton>
              }
            >
              {(close) => (
                <ConditionForm
                  condition={condition}
                  isOffered={isOffered}
                  onApply={(next) => {
                    onChange(conditions.with(index, next))
                    close()
                  }}
                />
              )}
            </PopoverButton>
          </Chip>
        )
      })}
      <PopoverButton
        label={t.addFilter}
        trigger={
          <AriaButton className={styles.add ?? ''}>
            <Icon name="filter" size={14} />
            {t.addFilter}
          </AriaButton>
        }
      >
        {(close) => (
          <ConditionForm
            isOffered={isOffered}
            onApply={(next) => {
              onChange([...conditions, next])
              close()
            }}
          />
        )}
      </PopoverButton>
    </div>
  )
}

/** A filter, that `children` open where it can be changed, with a button that removes it. */
export function Chip({
  text,
  onRemove,
  children,
}: {
  readonly text: string
  readonly onRemove: () => void
  readonly children?: ReactNode
}) {
  const t = useTexts(words)
  return (
    <span className={styles.chip}>
      {children ?? (
        <span className={styles.chipText} dir="auto">
          {text}
        </span>
      )}
      <AriaButton className={styles.chipRemove ?? ''} aria-label={t.removeFilter(text)} onPress={onRemove}>
        <Icon name="close" size={12} />
      </AriaButton>
    </span>
  )
}

/** Whether a condition may be about a dimension. */
export type IsOffered = (meta: Meta, member: string) => boolean

/** Sources are named but for that of events. */
const hintOf = (id: string, { source }: DimensionMeta): string | undefined =>
  id.startsWith('events.label.') ? 'label' : source === 'events' ? undefined : source

const membersOf = (meta: Meta | undefined, isOffered: IsOffered) =>
  Object.entries(meta?.dimensions ?? {})
    .filter(([id]) => meta && isOffered(meta, id))
    .map(([id, dimension]) => ({ id, label: titleOf(meta, id), hint: hintOf(id, dimension) }))

function ConditionForm({
  condition,
  isOffered,
  onApply,
}: {
  readonly condition?: Condition
  readonly isOffered: IsOffered
  readonly onApply: (condition: Condition) => void
}) {
  const t = useTexts(words)
  const say = useTexts(common)
  const meta = useMeta().data
  const [member, setMember] = useState(condition?.member)
  const [operator, setOperator] = useState<Operator>(condition?.operator ?? 'equals')
  const [values, setValues] = useState<readonly string[]>(condition?.values ?? [])
  if (member === undefined)
    return (
      <SearchList
        label={t.filterBy}
        choices={membersOf(meta, isOffered)}
        chosen={[]}
        onChange={([first]) => {
          if (first === undefined) return
          setMember(first)
          setOperator(operatorsFor(meta, first)[0] ?? 'equals')
        }}
      />
    )
  const operators = operatorsFor(meta, member)
  const isNumber = meta?.dimensions[member]?.type === 'number'
  return (
    <div className={styles.form}>
      <div className={styles.formHead}>
        <Button
          kind="quiet"
          icon="left"
          onPress={() => {
            setMember(undefined)
            setValues([])
          }}
        >
          <b dir="auto">{titleOf(meta, member)}</b>
        </Button>
        <Select
          label={t.operator}
          hidesLabel
          options={operators.map((id) => ({ id, label: t.operators[id] }))}
          value={operator}
          onChange={setOperator}
        />
      </div>
      {!isPresence(operator) &&
        (isNumber ? (
          <TextField
            label={t.value}
            type="number"
            value={values[0] ?? ''}
            onChange={(text) => setValues(text === '' ? [] : [text])}
          />
        ) : (
          <ValuesList label={t.values} member={member} chosen={values} onChange={setValues} />
        ))}
      <Button
        kind="main"
        isDisabled={!isPresence(operator) && values.length === 0}
        onPress={() => onApply({ member, operator, values: isPresence(operator) ? [] : values })}
      >
        {condition ? say.save : say.add}
      </Button>
    </div>
  )
}
