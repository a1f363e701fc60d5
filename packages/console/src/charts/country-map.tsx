import { useMemo, useState } from 'react'
import { formatMeasure, type MeasureMeta } from '../data/format.ts'
import { analysis } from '../texts/analysis.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { mapColumns, mapRows, tiles } from './countries.ts'
import styles from './country-map.module.css'

export interface CountryValue {
  /** ISO 3166-1 alpha-2. */
  readonly code: string
  readonly value: number | null
}

const size = 34
const gap = 3

/** A square for each country, darker with its value; countries without one are empty. */
export function CountryMap({
  label,
  values,
  format,
  onPress,
}: {
  readonly label: string
  readonly values: readonly CountryValue[]
  readonly format?: MeasureMeta['format']
  readonly onPress?: (code: string) => void
}) {
  const t = useTexts(analysis)
  const language = useLanguage()
  const names = useMemo(() => new Intl.DisplayNames(language, { type: 'region' }), [language])
  const [pointed, setPointed] = useState<string>()
  const known = new Map(values.map(({ code, value }) => [code, value ?? 0]))
  const greatest = Math.max(...known.values(), 0)
  const placed = new Set(tiles.map(({ code }) => code))
  const elsewhere = values.filter(({ code }) => !placed.has(code)).length
  // Areas grow with the square of what is seen, and one country is often far ahead.
  const shadeOf = (value: number) => (greatest > 0 ? Math.round(15 + 85 * Math.sqrt(value / greatest)) : 0)
  const textOf = (code: string) => {
    const value = known.get(code)
    return `${names.of(code) ?? code}: ${value === undefined ? t.absent : formatMeasure(language, format, value)}`
  }
  return (
    <figure className={styles.figure}>
      <svg
        className={styles.map}
        viewBox={`0 0 ${mapColumns * (size + gap)} ${mapRows * (size + gap)}`}
        role="img"
        aria-label={label}
      >
        {tiles.map(({ code, column, row }) => {
          const value = known.get(code)
          const shade = value === undefined ? 0 : shadeOf(value)
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the list of the same values is for the keyboard
            <g
              key={code}
              transform={`translate(${column * (size + gap)} ${row * (size + gap)})`}
              data-value={value !== undefined}
              data-dark={shade > 62}
              className={styles.tile}
              onMouseEnter={() => setPointed(code)}
              onMouseLeave={() => setPointed(undefined)}
              onClick={() => value !== undefined && onPress?.(code)}
            >
              <rect
                width={size}
                height={size}
                rx="5"
                style={
                  shade > 0
                    ? { fill: `color-mix(in srgb, var(--accent) ${shade}%, var(--surface-sunk))` }
                    : undefined
                }
              />
              <text x={size / 2} y={size / 2 + 4}>
                {code}
              </text>
            </g>
          )
        })}
      </svg>
      <figcaption className={styles.caption}>
        <span aria-live="polite">{pointed ? textOf(pointed) : ' '}</span>
        {elsewhere > 0 && <span>{t.elsewhere(elsewhere)}</span>}
      </figcaption>
    </figure>
  )
}
