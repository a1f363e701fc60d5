import { lazy, Suspense, useMemo } from 'react'
import { type Bar, BarList } from '../charts/bar-list.tsx'
import { maxSeries } from '../charts/colours.ts'
import { CountryMap } from '../charts/country-map.tsx'
import { Pie } from '../charts/pie.tsx'
import { partsOf } from '../charts/pie-parts.ts'
import { isOpenBucket } from '../data/buckets.ts'
import { seriesOf, timeKeyOf, titleOf, type ValueWords } from '../data/result.ts'
import type { Row } from '../data/statistics.ts'
import { analysis } from '../texts/analysis.ts'
import { type Language, useLanguage, useTexts } from '../texts/texts.ts'
import { Empty, Skeleton } from '../ui/state.tsx'
import { Change, Figure } from './figure.tsx'
import { isSummed, numberOf, pairs, type ResultProps, shownValue } from './result.ts'
import { ResultTable } from './result-table.tsx'
import styles from './result-view.module.css'

const loadSeriesChart = async () => ({ default: (await import('../charts/series-chart.tsx')).SeriesChart })
const SeriesChart = lazy(loadSeriesChart)

/** Loads what draws series, for a screen that waits for an answer to draw. */
export const prepareSeries = (): void => void loadSeriesChart()

/** A result as it was chosen to be seen; as a table where it cannot be seen so. */
export function ResultView(props: ResultProps) {
  const { answer, asked, kind } = props
  const t = useTexts(analysis)
  if (answer.rows.length === 0)
    return (
      <Empty icon="search" title={t.noRows}>
        {t.noRowsHint}
      </Empty>
    )
  const isByTime = timeKeyOf(asked) !== undefined
  if (kind === 'number' && !isByTime) return <Numbers {...props} />
  if (kind === 'list' && !isByTime) return <List {...props} />
  if (kind === 'pie' && !isByTime) return <Shares {...props} />
  if (kind === 'map' && !isByTime) return <Countries {...props} />
  if (isByTime && (kind === 'line' || kind === 'area' || kind === 'bar')) return <Course {...props} />
  return <ResultTable {...props} />
}

function Course(props: ResultProps) {
  const { answer, asked, kind, meta, height, title } = props
  const t = useTexts(analysis)
  const result = useMemo(() => seriesOf(answer.rows, asked, meta, t, maxSeries), [answer, asked, meta, t])
  if (!result) return null
  const last = result.buckets.at(-1)
  const isLastOpen = props.isLastOpen ?? (last !== undefined && isOpenBucket(last, result.granularity))
  return (
    <>
      <Suspense fallback={<Skeleton height={height ?? 280} />}>
        <SeriesChart
          label={title}
          kind={kind === 'line' || kind === 'area' ? kind : 'bar'}
          isStacked={kind !== 'line' && asked.dimensions.length > 0 && isSummed(asked, meta)}
          format={meta?.measures[asked.measures[0] ?? '']?.format}
          height={height}
          isLastOpen={isLastOpen}
          onZoom={props.onZoom}
          buckets={result.buckets}
          granularity={result.granularity}
          series={result.series}
        />
      </Suspense>
      {result.more > 0 && <p data-quiet>{t.moreSeries(result.more)}</p>}
    </>
  )
}

function Numbers({ answer, asked, meta }: ResultProps) {
  const [pair] = pairs(answer, asked)
  return (
    <div className={styles.numbers}>
      {asked.measures.map((measure) => (
        <Figure
          key={measure}
          size={asked.measures.length === 1 ? 'large' : 'plain'}
          {...(asked.measures.length > 1 && { label: titleOf(meta, measure) })}
          value={numberOf(pair?.row[measure])}
          before={numberOf(pair?.before?.[measure])}
          format={meta?.measures[measure]?.format}
        />
      ))}
    </div>
  )
}

const nameOf = (language: Language, row: Row, dimensions: readonly string[], say: ValueWords) =>
  dimensions.map((each) => shownValue(language, each, row[each], say)).join(' · ')

function List({ answer, asked, meta, title, onValue }: ResultProps) {
  const t = useTexts(analysis)
  const language = useLanguage()
  const measure = asked.measures[0] ?? ''
  const bars = pairs(answer, asked)
    .slice(0, maxBars)
    .map(({ row, before }, index): Bar => {
      const [dimension = ''] = asked.dimensions
      const value = row[dimension]
      const now = numberOf(row[measure])
      return {
        id: String(index),
        label: nameOf(language, row, asked.dimensions, t),
        value: now,
        aside: <Change now={now} before={numberOf(before?.[measure])} />,
        ...(onValue && value !== undefined && { onPress: () => onValue(value) }),
      }
    })
  return (
    <>
      <BarList label={title} bars={bars} format={meta?.measures[measure]?.format} />
      {answer.rows.length > maxBars && <p data-quiet>{t.moreRows(answer.rows.length - maxBars)}</p>}
    </>
  )
}

/** Bars beyond those are in the table. */
const maxBars = 100

function Shares(props: ResultProps) {
  const { answer, asked, meta, title } = props
  const t = useTexts(analysis)
  const language = useLanguage()
  const measure = asked.measures[0] ?? ''
  const values = pairs(answer, asked).map(({ row }) => ({
    label: nameOf(language, row, asked.dimensions, t),
    value: numberOf(row[measure]) ?? 0,
  }))
  const parts = partsOf(values, t.others)
  return parts ? (
    <Pie label={title} parts={parts} format={meta?.measures[measure]?.format} />
  ) : (
    <ResultTable {...props} />
  )
}

function Countries(props: ResultProps) {
  const { answer, asked, meta, title, onValue } = props
  const [dimension = ''] = asked.dimensions
  const measure = asked.measures[0] ?? ''
  const values = pairs(answer, asked).flatMap(({ row }) => {
    const code = row[dimension]
    return typeof code === 'string' ? [{ code, value: numberOf(row[measure]) }] : []
  })
  return (
    <>
      <CountryMap
        label={title}
        values={values}
        format={meta?.measures[measure]?.format}
        {...(onValue && { onPress: onValue })}
      />
      <List {...props} />
    </>
  )
}
