import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { client } from '../../client.ts'
import { type BinaryFilter, memberOf } from '../../data/filters.ts'
import type { Meta } from '../../data/format.ts'
import { titleOf } from '../../data/result.ts'
import { analysis } from '../../texts/analysis.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, Select, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Skeleton } from '../../ui/state.tsx'
import styles from './filter-editor.module.css'
import { fixedValuesOf, isValue, maxValuesOf, type ValueKind, valueKindOf } from './filter-words.ts'
import { Described, describedOf } from './member-picker.tsx'
import { type Operator, operatorsOf, takesValues } from './query-state.ts'
import { words } from './texts.ts'

interface EditorProps {
  readonly meta: Meta
  readonly filter: BinaryFilter
  readonly onApply: (filter: BinaryFilter) => void
  readonly onClose: () => void
}

/** One filter: what is typed stays here until it is applied, so that nothing is asked at each key. */
export function FilterEditor({ meta, filter, onApply, onClose }: EditorProps) {
  const t = useTexts(words)
  const member = memberOf(filter)
  const kind = valueKindOf(meta, member)
  const [operator, setOperator] = useState<Operator>(filter.operator)
  const [values, setValues] = useState<readonly string[]>(filter.values ?? [])
  const [typed, setTyped] = useState('')
  const max = maxValuesOf(operator)
  // A text that was typed and not added is meant as well.
  const own = isValue(kind, typed.trim()) && !values.includes(typed.trim()) ? [typed.trim()] : []
  const chosen = [...values, ...own].filter((each) => each !== '').slice(max === 1 ? -1 : 0)
  const isComplete = !takesValues(operator) || (chosen.length > 0 && chosen.length <= max)
  const described = describedOf(meta, member)
  return (
    <Dialog
      title={titleOf(meta, member)}
      isOpen
      onClose={onClose}
      width={480}
      end={
        <Button
          kind="main"
          isDisabled={!isComplete}
          onPress={() =>
            onApply({ member, operator, ...(takesValues(operator) ? { values: [...chosen] } : {}) })
          }
        >
          {t.apply}
        </Button>
      }
    >
      {described && (
        <div className={styles.meaning} data-quiet>
          <Described text={described.description} />
        </div>
      )}
      <Select
        label={t.operator}
        options={operatorsOf(meta, member).map((id) => ({ id, label: t.operators[id][0] }))}
        value={operator}
        onChange={(next) => {
          setOperator(next)
          if (maxValuesOf(next) < values.length) setValues(values.slice(0, maxValuesOf(next)))
        }}
      />
      {takesValues(operator) && (
        <Values
          meta={meta}
          member={member}
          kind={kind}
          max={max}
          values={values}
          typed={typed}
          onTyped={setTyped}
          onChange={setValues}
        />
      )}
    </Dialog>
  )
}

interface ValuesProps {
  readonly meta: Meta
  readonly member: string
  readonly kind: ValueKind
  readonly max: number
  readonly values: readonly string[]
  readonly typed: string
  readonly onTyped: (text: string) => void
  readonly onChange: (values: readonly string[]) => void
}

function Values(props: ValuesProps) {
  const { meta, member, kind, max, values, onChange } = props
  const t = useTexts(words)
  if (kind === 'date') {
    const [from = '', to = ''] = values
    if (max === 1)
      return <TextField label={t.day} type="date" value={from} onChange={(day) => onChange([day])} />
    return (
      <div className={styles.days}>
        <TextField
          label={t.firstDay}
          type="date"
          value={from}
          onChange={(day) => onChange([day, to || day])}
        />
        <TextField
          label={t.lastDay}
          type="date"
          value={to}
          onChange={(day) => onChange([from || day, day])}
        />
      </div>
    )
  }
  if (kind === 'fixed') return <Fixed {...props} known={fixedValuesOf(meta, member)} />
  return <Searched {...props} />
}

function Fixed({ values, onChange, known }: ValuesProps & { readonly known: readonly string[] }) {
  const t = useTexts(words)
  return (
    <fieldset className={styles.fixed}>
      <legend className="visually-hidden">{t.values}</legend>
      {[...new Set([...known, ...values])].map((each) => (
        <Checkbox
          key={each}
          isSelected={values.includes(each)}
          onChange={(isOn) => onChange(isOn ? [...values, each] : values.filter((value) => value !== each))}
        >
          {each}
        </Checkbox>
      ))}
    </fieldset>
  )
}

/** A text as it was when typing paused: the service is not asked at each key. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const wait = setTimeout(() => setPaused(text), 250)
    return () => clearTimeout(wait)
  }, [text])
  return paused
}

/** Values as they were stored, found by a part of them, and any other that is typed. */
function Searched({ meta, member, kind, max, values, typed, onTyped, onChange }: ValuesProps) {
  const t = useTexts(words)
  const say = useTexts(analysis)
  const language = useLanguage()
  const listId = useId()
  const contains = usePaused(typed.trim())
  const isListed = meta.measures[member] === undefined && kind === 'text' && member !== 'persons.cohort'
  const found = useQuery({
    queryKey: ['statistics-values', member, contains],
    queryFn: ({ signal }) =>
      client.listStatisticsValues(
        { query: { member, limit: 30, ...(contains === '' ? {} : { contains: contains.slice(0, 200) }) } },
        { signal },
      ),
    enabled: isListed,
    placeholderData: (before) => before,
  })
  const text = typed.trim()
  const isTaken = values.includes(text)
  const canAdd = isValue(kind, text) && !isTaken
  const add = (value: string) => {
    onChange(max === 1 ? [value] : [...values, value])
    onTyped('')
  }
  const offered = (found.data ?? []).filter(({ value }) => !values.includes(value))
  return (
    <div className={styles.searched}>
      {values.length > 0 && (
        <ul className={styles.chips} aria-label={t.values}>
          {values.map((each) => (
            <li key={each}>
              <button
                type="button"
                className={styles.chip}
                aria-label={t.removeMember(each)}
                onClick={() => onChange(values.filter((value) => value !== each))}
              >
                <span dir="auto">{each}</span>
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys of the field within */}
      <div
        onKeyDown={(event) => {
          if (event.key === 'Enter' && canAdd) {
            event.preventDefault()
            add(text)
          }
        }}
      >
        <TextField
          label={t.values}
          autoFocus
          placeholder={kind === 'number' ? t.number : t.searchValues}
          value={typed}
          onChange={onTyped}
          fault={kind === 'number' && text !== '' && !isValue(kind, text) ? t.number : undefined}
        />
      </div>
      {isListed && (
        <ul id={listId} className={styles.offered}>
          {canAdd && !offered.some(({ value }) => value === text) && (
            <li>
              <button type="button" className={styles.value} onClick={() => add(text)}>
                <span dir="auto">{t.addValue(text)}</span>
              </button>
            </li>
          )}
          {offered.map(({ value, count }) => (
            <li key={value}>
              <button type="button" className={styles.value} onClick={() => add(value)}>
                <span className={styles.valueText} dir="auto">
                  {value === '' ? say.absent : value}
                </span>
                <span data-quiet>{count.toLocaleString(language)}</span>
              </button>
            </li>
          ))}
          {found.isPending && (
            <li className={styles.none}>
              <Skeleton lines={6} />
            </li>
          )}
          {found.isSuccess && offered.length === 0 && !canAdd && values.length === 0 && (
            <li className={styles.none} data-quiet>
              {t.noValues}
            </li>
          )}
          {found.isError && (
            <li className={styles.none} data-quiet>
              {t.valuesFailed}
            </li>
          )}
        </ul>
      )}
    </div>
  )
}
