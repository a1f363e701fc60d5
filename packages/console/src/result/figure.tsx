import { changeOf, formatChange, formatMeasure, type MeasureMeta } from '../data/format.ts'
import { analysis } from '../texts/analysis.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import styles from './figure.module.css'

/** One number, with its change since the range before. */
export function Figure({
  label,
  value,
  before,
  format,
  size = 'plain',
}: {
  readonly label?: string
  readonly value: number | null | undefined
  readonly before?: number | null | undefined
  readonly format?: MeasureMeta['format']
  readonly size?: 'plain' | 'large'
}) {
  const language = useLanguage()
  return (
    <div className={styles.figure} data-size={size}>
      {label && <span className={styles.label}>{label}</span>}
      <span className={styles.value} title={formatMeasure(language, format, value)}>
        {formatMeasure(language, format, value, true)}
      </span>
      <Change now={value} before={before} />
    </div>
  )
}

export function Change({
  now,
  before,
}: {
  readonly now: number | null | undefined
  readonly before: number | null | undefined
}) {
  const t = useTexts(analysis)
  const language = useLanguage()
  const change = changeOf(now, before)
  if (change === undefined) return null
  const text = formatChange(language, change)
  return (
    <span className={styles.change} data-up={change > 0} data-down={change < 0} title={t.compared(text)}>
      {text}
    </span>
  )
}
