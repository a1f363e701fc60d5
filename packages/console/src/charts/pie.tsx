import { useState } from 'react'
import { formatMeasure, type MeasureMeta } from '../data/format.ts'
import { useLanguage } from '../texts/texts.ts'
import { seriesVariable } from './colours.ts'
import styles from './pie.module.css'
import { arc, type Part } from './pie-parts.ts'

/** Shares of a whole, with the same as a table beside it. */
export function Pie({
  label,
  parts,
  format,
}: {
  readonly label: string
  readonly parts: readonly Part[]
  readonly format?: MeasureMeta['format']
}) {
  const language = useLanguage()
  const [pointed, setPointed] = useState<number>()
  const whole = parts.reduce((sum, { value }) => sum + value, 0)
  const share = (value: number) =>
    (whole === 0 ? 0 : value / whole).toLocaleString(language, { style: 'percent', maximumFractionDigits: 1 })
  let from = 0
  const colourOf = (part: Part, i: number) => (part.isRest ? 'var(--line-strong)' : seriesVariable(i))
  return (
    <figure className={styles.figure}>
      <svg viewBox="-104 -104 208 208" className={styles.pie} role="img" aria-label={label}>
        {parts.map((part, i) => {
          const begin = from
          from += whole === 0 ? 0 : part.value / whole
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the table beside it says the same
            <path
              key={part.label}
              d={arc(begin, from, pointed === i ? 103 : 100, 60)}
              style={{ fill: colourOf(part, i) }}
              className={styles.part}
              onMouseEnter={() => setPointed(i)}
              onMouseLeave={() => setPointed(undefined)}
            />
          )
        })}
        <text y="2" className={styles.whole}>
          {formatMeasure(language, format, pointed === undefined ? whole : parts[pointed]?.value, true)}
        </text>
        {pointed !== undefined && (
          <text y="22" className={styles.share}>
            {share(parts[pointed]?.value ?? 0)}
          </text>
        )}
      </svg>
      <table className={styles.table}>
        <tbody>
          {parts.map((part, i) => (
            <tr key={part.label} data-pointed={pointed === i}>
              <th scope="row" dir="auto">
                <span className={styles.dot} style={{ background: colourOf(part, i) }} />
                {part.label}
              </th>
              <td>{formatMeasure(language, format, part.value)}</td>
              <td data-quiet>{share(part.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
