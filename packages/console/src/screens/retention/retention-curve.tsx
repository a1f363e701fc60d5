import { scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'
import { useLayoutEffect, useRef, useState } from 'react'
import { formatMeasure } from '../../data/format.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import styles from './retention-curve.module.css'
import type { PeriodUnit } from './retention-state.ts'
import { words } from './texts.ts'

const height = 150
const edge = { top: 18, right: 20, bottom: 24, left: 44 }

/** The average of all cohorts by period. The row of the table says the same to screen readers. */
export function RetentionCurve({
  average,
  unit,
}: {
  readonly average: readonly (number | null)[]
  readonly unit: PeriodUnit
}) {
  const t = useTexts(words)
  const language = useLanguage()
  const holder = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(600)
  // Before it is painted: a picture of another width would move what stands in it.
  useLayoutEffect(() => {
    if (!holder.current) return
    setWidth(holder.current.getBoundingClientRect().width)
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width))
    observer.observe(holder.current)
    return () => observer.disconnect()
  }, [])
  const points = average.flatMap((rate, period) => (rate === null ? [] : [{ rate, period }]))
  const x = scaleLinear([0, Math.max(1, average.length - 1)], [edge.left, width - edge.right])
  const top = Math.max(0.05, ...points.map(({ rate }) => rate))
  const y = scaleLinear([0, top], [height - edge.bottom, edge.top]).nice(3)
  const path = line<(typeof points)[number]>(
    ({ period }) => x(period),
    ({ rate }) => y(rate),
  )
  const everyLabel = Math.ceil((average.length * 48) / Math.max(1, width - edge.left))
  return (
    <div ref={holder} className={styles.holder}>
      <svg width={width} height={height} aria-hidden="true">
        {y.ticks(3).map((tick) => (
          <g key={tick}>
            <line x1={edge.left} x2={width - edge.right} y1={y(tick)} y2={y(tick)} className={styles.grid} />
            <text x={edge.left - 8} y={y(tick)} dy="0.32em" textAnchor="end" className={styles.text}>
              {formatMeasure(language, 'ratio', tick)}
            </text>
          </g>
        ))}
        {average.map(
          (_, period) =>
            period % everyLabel === 0 && (
              // biome-ignore lint/suspicious/noArrayIndexKey: a tick is its period
              <text key={period} x={x(period)} y={height - 6} textAnchor="middle" className={styles.text}>
                {t.period(period, unit)}
              </text>
            ),
        )}
        <path d={path(points) ?? ''} className={styles.line} />
        {points.map(({ rate, period }) => (
          <circle key={period} cx={x(period)} cy={y(rate)} r="3.5" className={styles.point}>
            <title>{`${t.period(period, unit)}: ${formatMeasure(language, 'ratio', rate)}`}</title>
          </circle>
        ))}
      </svg>
    </div>
  )
}
