import { useState } from 'react'
import { formatInstant } from '../data/format.ts'
import { daysOf, presets, type Range, readRange } from '../data/ranges.ts'
import { analysis } from '../texts/analysis.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { TextField } from './field.tsx'
import { PopoverButton } from './popover.tsx'
import styles from './range-picker.module.css'

/** What a range is called. */
export function useRangeName(): (range: Range) => string {
  const t = useTexts(analysis)
  const language = useLanguage()
  return (range) =>
    typeof range === 'string'
      ? (t.presets[range as keyof typeof t.presets] ?? range)
      : range.map((day) => formatInstant(language, `${day}T12:00:00Z`, 'UTC', 'day')).join(' – ')
}

interface RangePickerProps {
  readonly value: Range
  readonly today: string
  readonly onChange: (range: Range) => void
  /** What is chosen, where it is no range that the picker knows: `value` is then where its fields begin. */
  readonly name?: string | undefined
  /** A choice beside the ranges that have names. */
  readonly more?: { readonly label: string; readonly isChosen: boolean; readonly onChoose: () => void }
}

/** A range by its name, or by its first and last day. */
export function RangePicker({ value, today, onChange, name, more }: RangePickerProps) {
  const t = useTexts(analysis)
  const nameOf = useRangeName()
  return (
    <PopoverButton label={t.range} trigger={<Button icon="calendar">{name ?? nameOf(value)}</Button>}>
      {(close) => (
        <div className={styles.panel}>
          <ul className={styles.presets}>
            {presets.map((preset) => (
              <li key={preset}>
                <button
                  type="button"
                  className={styles.preset}
                  aria-pressed={name === undefined && value === preset}
                  onClick={() => {
                    onChange(preset)
                    close()
                  }}
                >
                  {t.presets[preset]}
                </button>
              </li>
            ))}
            {more && (
              <li>
                <button
                  type="button"
                  className={styles.preset}
                  aria-pressed={more.isChosen}
                  onClick={() => {
                    more.onChoose()
                    close()
                  }}
                >
                  {more.label}
                </button>
              </li>
            )}
          </ul>
          <OwnRange
            value={value}
            today={today}
            onChange={(range) => {
              onChange(range)
              close()
            }}
          />
        </div>
      )}
    </PopoverButton>
  )
}

function OwnRange({ value, today, onChange }: RangePickerProps) {
  const t = useTexts(analysis)
  const days = daysOf(value, today)
  const [from, setFrom] = useState(days.from)
  const [to, setTo] = useState(days.to)
  const range = readRange([from, to])
  return (
    <form
      className={styles.own}
      onSubmit={(event) => {
        event.preventDefault()
        if (range) onChange(range)
      }}
    >
      <TextField label={t.from} type="date" value={from} onChange={setFrom} />
      <TextField
        label={t.to}
        type="date"
        value={to}
        onChange={setTo}
        fault={range ? undefined : t.wrongRange}
      />
      <Button kind="main" type="submit" isDisabled={!range}>
        {t.apply}
      </Button>
    </form>
  )
}
