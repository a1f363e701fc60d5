import { useTexts } from '../../texts/texts.ts'
import { Select, TextField } from '../../ui/field.tsx'
import type { RuleRange } from './rule-draft.ts'
import styles from './rule-editor.module.css'
import { words } from './texts.ts'

const relative = [
  'today',
  'last 7 days',
  'last 30 days',
  'last 90 days',
  'last 365 days',
  'this week',
  'this month',
  'this year',
] as const

/** When: ever, in a range that moves with the day, or between two days of which one may be open. */
export function RangeChoice({
  value,
  hasEver = false,
  onChange,
}: {
  readonly value: RuleRange
  readonly hasEver?: boolean
  readonly onChange: (value: RuleRange) => void
}) {
  const t = useTexts(words)
  const isDays = value !== null && typeof value !== 'string'
  const known = relative.some((each) => each === value)
  const [from, to] = isDays ? value : [null, null]
  const bound = (text: string) => (text === '' ? null : text)
  const setDays = (next: readonly [string | null, string | null]) =>
    // Days that are both open are no range yet: the first one stays.
    onChange(next[0] === null && next[1] === null ? [from ?? to, null] : next)
  return (
    <span className={styles.times}>
      <Select
        label={t.when}
        hidesLabel
        options={[
          ...(hasEver ? [{ id: 'ever', label: t.ever }] : []),
          ...relative.map((id) => ({ id: id as string, label: t.ranges[id] })),
          ...(typeof value === 'string' && !known ? [{ id: value, label: value }] : []),
          { id: 'days', label: t.betweenDays },
        ]}
        value={value === null ? 'ever' : isDays ? 'days' : value}
        onChange={(id) => {
          if (id === 'ever') onChange(null)
          else if (id === 'days')
            onChange([new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10), null])
          else onChange(id)
        }}
      />
      {isDays && (
        <>
          <TextField
            label={t.fromDay}
            hidesLabel
            type="date"
            value={from ?? ''}
            onChange={(text) => setDays([bound(text), to])}
          />
          <span>–</span>
          <TextField
            label={t.toDay}
            hidesLabel
            type="date"
            value={to ?? ''}
            onChange={(text) => setDays([from, bound(text)])}
          />
        </>
      )}
    </span>
  )
}

const daysAgo = /^(\d{1,5}) days? ago$/

/** A day, or a number of days ago; another text of the interface stays as it is. */
export function PointChoice({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const t = useTexts(words)
  const days = daysAgo.exec(value)?.[1]
  const isDay = days === undefined && (/^\d{4}-\d\d-\d\d$/.test(value) || value === '')
  const kind = days !== undefined ? 'ago' : isDay ? 'day' : 'text'
  return (
    <span className={styles.times}>
      {kind === 'ago' && (
        <span className={styles.count}>
          <TextField
            label={t.daysAgo}
            hidesLabel
            type="number"
            inputMode="numeric"
            value={days ?? ''}
            onChange={(text) => /^\d{1,5}$/.test(text) && onChange(`${Number(text)} days ago`)}
          />
        </span>
      )}
      {kind === 'day' && <TextField label={t.day} hidesLabel type="date" value={value} onChange={onChange} />}
      <Select
        label={t.pointKind}
        hidesLabel
        options={[
          { id: 'ago', label: t.daysAgo },
          { id: 'day', label: t.day },
          ...(kind === 'text' ? [{ id: 'text', label: value }] : []),
        ]}
        value={kind}
        onChange={(next) => {
          if (next === 'ago') onChange('30 days ago')
          if (next === 'day') onChange(new Date().toISOString().slice(0, 10))
        }}
      />
    </span>
  )
}
