import type { ReactNode } from 'react'
import { formatMeasure, type MeasureMeta } from '../data/format.ts'
import { useLanguage } from '../texts/texts.ts'
import styles from './bar-list.module.css'

export interface Bar {
  readonly id: string
  readonly label: string
  readonly value: number | null
  /** What is beside the value, as a change. */
  readonly aside?: ReactNode
  readonly onPress?: () => void
}

/** Values of a dimension, each with a bar of its share of the greatest: a table that is a chart. */
export function BarList({
  label,
  bars,
  format,
}: {
  readonly label: string
  readonly bars: readonly Bar[]
  readonly format?: MeasureMeta['format']
}) {
  const language = useLanguage()
  const greatest = Math.max(...bars.map(({ value }) => Math.abs(value ?? 0)), 0)
  return (
    <ol className={styles.list} aria-label={label}>
      {bars.map(({ id, label: name, value, aside, onPress }) => (
        <li key={id} className={styles.row}>
          <span
            className={styles.bar}
            style={{ width: greatest === 0 ? 0 : `${(Math.abs(value ?? 0) / greatest) * 100}%` }}
          />
          {onPress ? (
            <button type="button" className={styles.name} onClick={onPress} dir="auto" title={name}>
              {name}
            </button>
          ) : (
            <span className={styles.name} dir="auto" title={name}>
              {name}
            </span>
          )}
          {aside}
          <b className={styles.value}>{formatMeasure(language, format, value)}</b>
        </li>
      ))}
    </ol>
  )
}
