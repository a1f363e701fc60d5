import { BarList } from '../charts/bar-list.tsx'
import { formatBucket, formatMeasure, type Granularity } from '../data/format.ts'
import { type Answer, type Row, useMeta } from '../data/statistics.ts'
import { analysis } from '../texts/analysis.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { Empty, Loaded, Skeleton } from '../ui/state.tsx'
import { type Asking, explorationQuery, useTileAnswer } from './asking.ts'
import { edgesOf, retentionOf, stepsOf } from './pictures.ts'
import { type ExplorationTile, explorationOf, type Shared } from './question.ts'
import { words } from './texts.ts'
import styles from './tile-body.module.css'

/** A compact picture of an exploration: steps of a funnel, the triangle of retention, the edges of paths. */
export function ExplorationPicture({
  tile,
  title,
  shared,
  asking,
  height,
}: {
  readonly tile: ExplorationTile
  readonly title: string
  readonly shared: Shared
  readonly asking: Asking
  /** Pixels. */
  readonly height: number
}) {
  const t = useTexts(analysis)
  const meta = useMeta().data
  const { exploration } = tile
  const { body } = explorationOf(tile, shared, meta)
  const isReady = meta !== undefined || shared.filters.length === 0
  const answer = useTileAnswer<Answer>(explorationQuery(exploration, body), {
    ...asking,
    isInSight: asking.isInSight && isReady,
  })
  return (
    <Loaded
      query={answer}
      skeleton={<Skeleton height={Math.max(40, height - 16)} />}
      isEmpty={({ rows }) => rows.length === 0}
      empty={
        <Empty icon="search" title={t.noRows}>
          {t.noRowsHint}
        </Empty>
      }
    >
      {({ rows }) => {
        switch (exploration) {
          case 'funnel':
            return <Funnel rows={rows} title={title} />
          case 'retention':
            return <Retention rows={rows} title={title} granularity={body.granularity as Granularity} />
          case 'paths':
            return <Edges rows={rows} title={title} />
        }
      }}
    </Loaded>
  )
}

interface PictureProps {
  readonly rows: readonly Row[]
  readonly title: string
}

function Funnel({ rows, title }: PictureProps) {
  const language = useLanguage()
  return (
    <ol className={styles.steps} aria-label={title}>
      {stepsOf(rows).map(({ step, name, people, share }) => (
        <li key={step} className={styles.step}>
          <div className={styles.stepHead}>
            <span className={styles.stepName} dir="auto" title={name}>
              {name}
            </span>
            <b>{formatMeasure(language, 'integer', people)}</b>
            <span className={styles.share}>{formatMeasure(language, 'ratio', share)}</span>
          </div>
          <div className={styles.track}>
            <div className={styles.fill} style={{ width: `${share * 100}%` }} />
          </div>
        </li>
      ))}
    </ol>
  )
}

function Retention({ rows, title, granularity }: PictureProps & { readonly granularity: Granularity }) {
  const t = useTexts(words)
  const language = useLanguage()
  const { lines, periods } = retentionOf(rows)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={styles.scroll} tabIndex={0} aria-label={title}>
      <table className={styles.retention}>
        <thead>
          <tr>
            <th scope="col">{t.cohort}</th>
            <th scope="col">{t.size}</th>
            {Array.from({ length: periods }, (_, period) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a period is its number
              <th key={period} scope="col">
                {t.period(period)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ cohort, size, rates }) => (
            <tr key={cohort}>
              <th scope="row">{formatBucket(language, cohort, granularity, true)}</th>
              <th>{formatMeasure(language, 'integer', size)}</th>
              {rates.map((rate, period) =>
                rate === null ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a period is its number
                  <td key={period} />
                ) : (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a period is its number
                  <td key={period} data-rate style={{ '--rate': rate } as React.CSSProperties}>
                    {formatMeasure(language, 'ratio', Math.round(rate * 100) / 100)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Edges({ rows, title }: PictureProps) {
  const t = useTexts(words)
  const bars = edgesOf(rows)
    .slice(0, 30)
    .map(({ id, from, to, sessions }) => ({
      id,
      label: `${from ?? t.start} → ${to ?? t.end}`,
      value: sessions,
    }))
  return <BarList label={title} bars={bars} format="integer" />
}
