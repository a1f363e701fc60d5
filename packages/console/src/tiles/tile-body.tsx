import { lazy, Suspense } from 'react'
import type { Answer } from '../data/statistics.ts'
import { answerQuery, useMeta } from '../data/statistics.ts'
import type { ResultKind } from '../result/result.ts'
import { ResultView } from '../result/result-view.tsx'
import { useTexts } from '../texts/texts.ts'
import { Empty, Loaded, Skeleton } from '../ui/state.tsx'
import { type Asking, useTileAnswer } from './asking.ts'
import { type ExplorationTile, explorationOf, queryOf, type Shared } from './question.ts'
import { words } from './texts.ts'
import type { Tile, TileQuery } from './tile.ts'
import styles from './tile-body.module.css'

const Explored = lazy(async () => ({
  default: (await import('./exploration-picture.tsx')).ExplorationPicture,
}))
const ExperimentSummary = lazy(async () => ({
  default: (await import('./experiment-summary.tsx')).ExperimentSummary,
}))

interface TileBodyProps {
  readonly tile: Tile
  readonly title: string
  readonly shared: Shared
  readonly asking: Asking
  /** Pixels that its content has. */
  readonly height: number
  readonly isLastOpen: boolean
  readonly onZoom?: (from: string, to: string) => void
}

/** What a tile shows. */
export function TileBody(props: TileBodyProps) {
  const { tile, height } = props
  const t = useTexts(words)
  if (tile.kind === 'query' && tile.query) return <QueryBody {...props} query={tile.query} />
  if (tile.kind === 'text')
    return tile.text ? (
      <p className={styles.text} dir="auto">
        {tile.text}
      </p>
    ) : (
      <p data-quiet>{t.emptyText}</p>
    )
  return (
    <Suspense fallback={<Skeleton height={height - 16} />}>
      {tile.kind === 'exploration' && tile.exploration && tile.definition ? (
        <Explored {...props} tile={tile as ExplorationTile} />
      ) : tile.kind === 'experiment' && tile.experimentId ? (
        <ExperimentSummary id={tile.experimentId} asking={props.asking} />
      ) : (
        <Empty icon="question" title={t.unknownKind} />
      )}
    </Suspense>
  )
}

function QueryBody({
  tile,
  title,
  query,
  shared,
  asking,
  height,
  isLastOpen,
  onZoom,
}: TileBodyProps & { readonly query: TileQuery }) {
  const meta = useMeta().data
  const { body } = queryOf(query, shared, meta)
  // Filters are fitted by the model: asking before it is there would ask twice.
  const isReady = meta !== undefined || shared.filters.length === 0
  const answer = useTileAnswer<Answer>(answerQuery(body), {
    ...asking,
    isInSight: asking.isInSight && isReady,
  })
  const hasLegend = query.dimensions.length > 0 || query.measures.length > 1 || shared.compared !== undefined
  return (
    <Loaded query={answer} skeleton={<Skeleton height={Math.max(40, height - 16)} />}>
      {(data) => (
        <ResultView
          title={title}
          asked={body}
          answer={data}
          meta={meta}
          kind={(tile.view ?? 'table') as ResultKind}
          height={Math.max(90, height - (hasLegend ? 44 : 8))}
          isLastOpen={isLastOpen}
          {...(onZoom && { onZoom })}
        />
      )}
    </Loaded>
  )
}

/** The operation that a tile asks, to copy it. */
export function callOf(tile: Tile, shared: Shared, meta: Parameters<typeof queryOf>[2]) {
  switch (tile.kind) {
    case 'query':
      return (
        tile.query &&
        ({ operation: 'runQuery', request: { body: queryOf(tile.query, shared, meta).body } } as const)
      )
    case 'exploration': {
      if (!tile.exploration || !tile.definition) return undefined
      const { body } = explorationOf(tile as ExplorationTile, shared, meta)
      const operation = {
        funnel: 'exploreFunnel',
        retention: 'exploreRetention',
        paths: 'explorePaths',
      } as const
      return { operation: operation[tile.exploration], request: { body } } as const
    }
    case 'experiment':
      return {
        operation: 'readExperimentResults',
        request: { params: { id: tile.experimentId ?? '' } },
      } as const
    default:
      return undefined
  }
}
