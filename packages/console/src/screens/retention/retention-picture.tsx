import { Link } from '@tanstack/react-router'
import { formatBucket, formatMeasure } from '../../data/format.ts'
import { words as shared } from '../../exploration/texts.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import styles from './retention-picture.module.css'
import type { Cell, Triangle } from './retention-rows.ts'
import type { PeriodUnit } from './retention-state.ts'
import { words } from './texts.ts'

interface RetentionPictureProps {
  readonly triangle: Triangle
  readonly unit: PeriodUnit
  readonly shows: 'rate' | 'people'
  /** The rule of a cohort with the people of a cell, where one can say it. */
  readonly ruleOf: (start: string, period: number | 'all') => object | undefined
}

/** A table that is a heat map: its own twin for screen readers. */
export function RetentionPicture({ triangle, unit, shows, ruleOf }: RetentionPictureProps) {
  const t = useTexts(words)
  const language = useLanguage()
  const { cohorts, average } = triangle
  // Period 0 is nearly everybody: the shades are for what differs.
  const greatest = Math.max(
    0.01,
    ...cohorts.flatMap(({ cells }) => cells.slice(1).map((cell) => cell?.rate ?? 0)),
  )
  const shade = (rate: number) => Math.min(1, rate / greatest)
  const all = cohorts.reduce((sum, { size }) => sum + size, 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={styles.scroll} tabIndex={0} aria-label={t.title}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{t.units[unit]}</th>
            <th scope="col">{t.size}</th>
            {average.map((_, period) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is its period
              <th key={period} scope="col">
                {t.period(period, unit)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr className={styles.average}>
            <th scope="row">{t.average}</th>
            <td>{formatMeasure(language, 'integer', all)}</td>
            {average.map((rate, period) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is its period
              <td key={period}>{rate === null ? '' : formatMeasure(language, 'ratio', rate)}</td>
            ))}
          </tr>
          {cohorts.map(({ start, size, cells }) => (
            <tr key={start}>
              <th scope="row">{formatBucket(language, start, unit, true)}</th>
              <td>
                <CellLink
                  rule={ruleOf(start, 'all')}
                  title={t.whole(formatMeasure(language, 'integer', size))}
                >
                  {formatMeasure(language, 'integer', size)}
                </CellLink>
              </td>
              {cells.map((cell, period) => (
                <HeatCell
                  // biome-ignore lint/suspicious/noArrayIndexKey: a column is its period
                  key={period}
                  cell={cell}
                  shade={cell ? shade(cell.rate) : 0}
                  size={size}
                  shows={shows}
                  rule={cell && cell.people > 0 ? ruleOf(start, period) : undefined}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function HeatCell({
  cell,
  shade,
  size,
  shows,
  rule,
}: {
  readonly cell: Cell | undefined
  readonly shade: number
  readonly size: number
  readonly shows: 'rate' | 'people'
  readonly rule: object | undefined
}) {
  const t = useTexts(words)
  const language = useLanguage()
  if (!cell) return <td className={styles.none} />
  const rate = formatMeasure(language, 'ratio', cell.rate)
  const people = formatMeasure(language, 'integer', cell.people)
  const title = t.cell(people, formatMeasure(language, 'integer', size), rate, cell.isComplete)
  return (
    <td
      className={styles.cell}
      data-open={!cell.isComplete}
      style={{ background: `color-mix(in oklab, var(--heat) ${Math.round(shade * 100)}%, var(--surface))` }}
    >
      <CellLink rule={rule} title={title}>
        {shows === 'rate' ? rate : people}
      </CellLink>
    </td>
  )
}

function CellLink({
  rule,
  title,
  children,
}: {
  readonly rule: object | undefined
  readonly title: string
  readonly children: string
}) {
  const t = useTexts(shared)
  if (!rule)
    return (
      <span className={styles.text} title={title}>
        {children}
      </span>
    )
  return (
    <Link
      to="/cohorts/$id"
      params={{ id: 'new' }}
      search={{ rule }}
      className={styles.text}
      title={`${title}\n${t.asCohort}`}
      preload={false}
    >
      {children}
    </Link>
  )
}
