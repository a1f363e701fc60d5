import 'uplot/dist/uPlot.min.css'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import UPlot from 'uplot'
import { formatBucket, formatMeasure, type MeasureMeta } from '../data/format.ts'
import { useLanguage } from '../texts/texts.ts'
import { type Colours, seriesColour, seriesVariable, useColours } from './colours.ts'
import { columnsOf, type Series, type SeriesData } from './series.ts'
import styles from './series-chart.module.css'

export type SeriesKind = 'line' | 'area' | 'bar'

interface SeriesChartProps extends SeriesData {
  readonly kind?: SeriesKind
  readonly format?: MeasureMeta['format']
  /** What it shows, for screen readers. */
  readonly label: string
  readonly height?: number
  readonly isStacked?: boolean
  readonly hidesLegend?: boolean
  /** Gets the first and the last bucket of what was dragged over. */
  readonly onZoom?: (from: string, to: string) => void
}

interface Hovered {
  readonly index: number
  readonly left: number
  readonly isRight: boolean
}

function faded(colour: string, alpha: number): string {
  return colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`)
}

/** A colour as it looks faded on another, which hides what is behind it. */
function fadedOn(colour: string, alpha: number, ground: string): string {
  const [over = [], under = []] = [colour, ground].map((each) => each.match(/\d+/g)?.map(Number))
  return `rgb(${over.map((part, i) => Math.round(part * alpha + (under[i] ?? 0) * (1 - alpha))).join(', ')})`
}

/** Measures over time, drawn on a canvas, with what is under the pointer as a table and a legend of buttons. */
export function SeriesChart(props: SeriesChartProps) {
  const {
    kind = 'line',
    format,
    label,
    height = 280,
    isStacked = false,
    hidesLegend,
    onZoom,
    buckets,
    granularity,
    series,
    isLastOpen,
  } = props
  const language = useLanguage()
  const colours = useColours()
  const holder = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>(null)
  const zoom = useRef(onZoom)
  zoom.current = onZoom
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [hovered, setHovered] = useState<Hovered>()
  const shown = useMemo(() => series.filter(({ id }) => !hidden.has(id)), [series, hidden])
  const data = useMemo(
    () =>
      columnsOf(
        { buckets, granularity, series: shown, isLastOpen: isLastOpen ?? false },
        isStacked,
        kind === 'bar',
      ),
    [buckets, granularity, shown, isLastOpen, isStacked, kind],
  )

  useLayoutEffect(() => {
    const place = holder.current
    if (!place) return
    const second = shown.find((each) => each.format !== undefined)
    const perSeries = isLastOpen && buckets.length > 1 ? 2 : 1
    // Bars that stand on each other are drawn from the top: each covers the foot of the one above it.
    const order = shown.map((_, i) => (isStacked && kind === 'bar' ? shown.length - 1 - i : i))
    const options: UPlot.Options = {
      width: place.clientWidth,
      height,
      tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
      legend: { show: false },
      padding: [12, second ? 0 : 12, 0, 0],
      cursor: {
        y: false,
        points: { size: 7 },
        drag: { x: zoom.current !== undefined, y: false, setScale: false },
      },
      scales: {
        x: { time: true, ...(kind === 'bar' && { range: widened(buckets.length) }) },
        y: { range: rangeOf },
        ...(second && { second: { range: rangeOf } }),
      },
      axes: [
        {
          ...axis(colours),
          size: 34,
          space: 72,
          values: (_, splits) => bucketTicks(splits, granularity, language),
        },
        {
          ...axis(colours),
          size: sideOf,
          ...stepsOf(format),
          values: (_, splits) => measureTicks(splits, format, language),
        },
        ...(second
          ? [
              {
                ...axis(colours),
                scale: 'second',
                side: 1 as const,
                size: sideOf,
                ...stepsOf(second.format),
                grid: { show: false },
                values: (_: UPlot, splits: number[]) => measureTicks(splits, second.format, language),
              },
            ]
          : []),
      ],
      ...(isStacked && kind === 'area' && { bands: bandsOf(shown.length, perSeries) }),
      series: [
        {},
        ...order.flatMap((place) => {
          const each = shown[place] as Series
          const stroke = colours[seriesColour(each.colour ?? series.indexOf(each))]
          const drawn = {
            ...lookOf({ kind, stroke, isComparison: each.isComparison === true, isStacked }),
            ...(each.format !== undefined && { scale: 'second' }),
          }
          return perSeries === 2
            ? [drawn, openOf(drawn, fadedOn(stroke, 0.4, colours.surface), kind)]
            : [drawn]
        }),
      ],
      hooks: {
        setCursor: [
          ({ cursor, bbox }) => {
            const { idx, left } = cursor
            if (idx === null || idx === undefined || left === undefined || left < 0)
              return setHovered(undefined)
            const start = bbox.left / devicePixelRatio
            const width = bbox.width / devicePixelRatio
            setHovered({ index: idx, left: start + left, isRight: left > width / 2 })
          },
        ],
        setSelect: [
          (plot) => {
            if (plot.select.width < 6) return
            const from = buckets[plot.posToIdx(plot.select.left)]
            const to = buckets[plot.posToIdx(plot.select.left + plot.select.width)]
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            if (from !== undefined && to !== undefined) zoom.current?.(from, to)
          },
        ],
      },
    }
    const [x, ...columns] = data
    const sorted = order.flatMap((i) => columns.slice(i * perSeries, (i + 1) * perSeries))
    const plot = new UPlot(options, [x, ...sorted], place)
    chart.current = plot
    return () => {
      chart.current = null
      plot.destroy()
    }
  }, [
    data,
    colours,
    kind,
    format,
    height,
    language,
    granularity,
    isLastOpen,
    isStacked,
    buckets,
    series,
    shown,
  ])

  useEffect(() => {
    const place = holder.current
    if (!place) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry) chart.current?.setSize({ width: entry.contentRect.width, height })
    })
    observer.observe(place)
    return () => observer.disconnect()
  }, [height])

  const bucket = hovered && buckets[hovered.index]
  return (
    <figure className={styles.figure}>
      <div className={styles.plot} style={{ minHeight: height }}>
        <div ref={holder} role="img" aria-label={label} />
        {bucket !== undefined && hovered && (
          <div
            className={styles.tooltip}
            style={
              hovered.isRight ? { right: `calc(100% - ${hovered.left - 12}px)` } : { left: hovered.left + 12 }
            }
          >
            <strong>{formatBucket(language, bucket, granularity)}</strong>
            {shown.map((each) => (
              <div key={each.id} className={styles.tooltipRow}>
                <span
                  className={styles.dot}
                  style={{ background: seriesVariable(each.colour ?? series.indexOf(each)) }}
                />
                <span className={styles.tooltipLabel} dir="auto">
                  {each.label}
                </span>
                <b>{formatMeasure(language, each.format ?? format, each.values[hovered.index])}</b>
              </div>
            ))}
          </div>
        )}
      </div>
      {!hidesLegend && series.length > 1 && (
        <figcaption className={styles.legend}>
          {series.map((each, index) => (
            <button
              key={each.id}
              type="button"
              className={styles.legendItem}
              aria-pressed={!hidden.has(each.id)}
              onClick={() => {
                const next = new Set(hidden)
                if (!next.delete(each.id)) next.add(each.id)
                // At least one stays.
                if (next.size < series.length) setHidden(next)
              }}
            >
              <span
                className={styles.dot}
                data-dashed={each.isComparison}
                style={{ background: seriesVariable(each.colour ?? index) }}
              />
              <span dir="auto">{each.label}</span>
            </button>
          ))}
        </figcaption>
      )}
      <SeriesTable {...props} />
    </figure>
  )
}

/** Rows of the twin for screen readers: more would hold the page up, and the table view has them. */
const maxTwinRows = 200

function SeriesTable({ label, buckets, granularity, series, format }: SeriesChartProps) {
  const language = useLanguage()
  return (
    <div className="visually-hidden">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <td />
            {series.map(({ id, label: name }) => (
              <th key={id} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets.slice(0, maxTwinRows).map((bucket, i) => (
            <tr key={bucket}>
              <th scope="row">{formatBucket(language, bucket, granularity)}</th>
              {series.map((each) => (
                <td key={each.id}>{formatMeasure(language, each.format ?? format, each.values[i])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Half a bar more at both ends. */
const widened =
  (count: number) =>
  (_: UPlot, min: number, max: number): [number, number] => {
    const half = count > 1 ? (max - min) / (count - 1) / 2 : 43_200
    return [min - half, max + half]
  }

/** From 0, so that heights can be compared. */
const rangeOf = (_: UPlot, min: number | null, max: number | null): [number, number] => [
  Math.min(0, min ?? 0),
  (max ?? 0) > 0 ? (max ?? 0) * 1.06 : max === min ? 1 : 0,
]

/** Room for the longest number at the side, in pixels: durations and amounts are long. */
const sideOf = (_: UPlot, numbers: string[] | null): number =>
  Math.max(58, ...(numbers ?? []).map((each) => each.length * 7 + 14))

const axis = (colours: Colours): UPlot.Axis => ({
  stroke: colours['text-quiet'],
  font: '12px system-ui, sans-serif',
  grid: { stroke: colours.line, width: 1 },
  ticks: { show: false },
  gap: 6,
})

/** Places of the values that no line reaches, because both neighbours are missing. */
function alone(plot: UPlot, series: number): number[] {
  const values = plot.data[series] ?? []
  return [...values.keys()].filter((i) => values[i] != null && values[i - 1] == null && values[i + 1] == null)
}

function lookOf({
  kind,
  stroke,
  isComparison,
  isStacked,
}: {
  readonly kind: SeriesKind
  readonly stroke: string
  readonly isComparison: boolean
  readonly isStacked: boolean
}): UPlot.Series {
  if (kind === 'bar' && !isComparison && UPlot.paths.bars)
    return {
      stroke,
      fill: isStacked ? stroke : faded(stroke, 0.85),
      width: 0,
      points: { show: false },
      paths: UPlot.paths.bars({ size: [0.7, 48], radius: 0.1 }),
    }
  return {
    stroke: isComparison ? faded(stroke, 0.6) : stroke,
    width: 2,
    points: { show: true, size: 6, fill: stroke, filter: alone },
    spanGaps: false,
    ...(isComparison
      ? { dash: [5, 5] }
      : kind === 'area' && { fill: faded(stroke, isStacked ? 0.35 : 0.14) }),
  }
}

/** Areas that stand on each other are filled down to the one below. */
const bandsOf = (count: number, perSeries: number): UPlot.Band[] =>
  Array.from({ length: (count - 1) * perSeries }, (_, i) => ({ series: [i + 1 + perSeries, i + 1] }))

/** How the last bucket looks while it is not over. */
const openOf = (drawn: UPlot.Series, fill: string, kind: SeriesKind): UPlot.Series =>
  // Bars of a stack are drawn over each other.
  kind === 'bar' && drawn.width === 0 ? { ...drawn, fill } : { ...drawn, dash: [4, 4] }

const wholeSteps = Array.from({ length: 16 }, (_, i) => [10 ** i, 2 * 10 ** i, 5 * 10 ** i]).flat()

/** There is no half of what is counted. */
const stepsOf = (format: MeasureMeta['format'] | undefined): Pick<UPlot.Axis, 'incrs'> =>
  format === 'integer' ? { incrs: wholeSteps } : {}

/** A currency may follow. */
const wholeAmount = /[.,]00(?=\D*$)/

function measureTicks(
  splits: readonly number[],
  format: MeasureMeta['format'] | undefined,
  language: 'en' | 'fr',
): string[] {
  const texts = splits.map((each) => formatMeasure(language, format, each, true))
  return texts.every((text) => wholeAmount.test(text) || !/\d[.,]\d\d\D*$/.test(text))
    ? texts.map((text) => text.replace(wholeAmount, ''))
    : texts
}

function bucketTicks(
  splits: readonly number[],
  granularity: SeriesData['granularity'],
  language: 'en' | 'fr',
): string[] {
  let before = ''
  return splits.map((seconds) => {
    const text = formatBucket(language, new Date(seconds * 1_000).toISOString(), granularity, true)
    if (text === before) return ''
    before = text
    return text
  })
}
