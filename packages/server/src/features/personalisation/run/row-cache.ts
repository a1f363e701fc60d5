import { createLoadingCache } from '../../../platform/cache/loading-cache.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createKeyedSemaphore, createSemaphore } from '../../../platform/limits/semaphore.ts'
import type { DataRow, RowQuery, RowSource } from '../compile/executable.ts'

/** For how long the revision of a datasource is taken for the present one. */
const freshMs = 800
/** How long a statement may take, for whichever run asked for it first: what comes late serves the next one. */
const statementMs = 2_000

export interface RowCacheOptions {
  readonly source: RowSource
  readonly clock: Clock
  /** Of all rows kept, as JSON; default 32 MiB. */
  readonly maxBytes?: number
  /**
   * Statements at once for one datasource; default 32, further ones wait. A company has twice as many and all together
   * four times, so that slow look-ups in one datasource do not keep others from theirs.
   */
  readonly maxStatements?: number
  /** How long a statement waits for its turn, in milliseconds: no longer than the run that asks; default 200. */
  readonly waitMs?: number
}

/** A query of the rows of one revision. */
interface RevisionQuery {
  readonly query: RowQuery
  readonly revision: string | undefined
}

interface Entry {
  readonly rows: readonly DataRow[]
  readonly bytes: number
  /** Whether they are of the revision that was asked for. */
  readonly isCurrent: boolean
}

/** A query that names another company's datasource must not touch what is known of it. */
const datasourceOf = ({ companyId, datasourceId }: RowQuery): string => `${companyId} ${datasourceId}`

/** A text whose end is known by its length, so that two of them do not read like two others. */
const measured = (text: string): string => `${text.length}:${text}`

/** Tells queries apart; written by hand because each run needs one, and as JSON it takes several times as long. */
function keyOf({ companyId, datasourceId, match, filters, sort, limit }: RowQuery): string {
  let key = `${companyId} ${datasourceId} ${match} ${limit}`
  if (sort !== undefined) key += ` ${sort.order} ${measured(sort.field)}`
  for (const { field, operator, value } of filters) {
    const text = typeof value === 'string' ? `"${measured(value)}` : measured(String(JSON.stringify(value)))
    key += `,${measured(field)}${measured(operator)}${text}`
  }
  return key
}

/** Look-ups that wait for each that runs; further ones are refused. */
const waitingOfEach = 8

/**
 * Turns of statements, which wait for one of their datasource, of their company and of all: slow look-ups in one
 * datasource do not keep others from theirs.
 * @param waitMs how long a statement waits for its turn
 */
function createTurns(permits: number, waitMs: number) {
  const ofDatasources = createKeyedSemaphore(permits, permits * waitingOfEach)
  const ofCompanies = createKeyedSemaphore(permits * 2, permits * 2 * waitingOfEach)
  const ofAll = createSemaphore(permits * 4, permits * 4 * waitingOfEach)

  /** @throws where too many wait, or no turn comes in time */
  return async (query: RowQuery): Promise<() => void> => {
    const { companyId } = query
    const signal = AbortSignal.timeout(waitMs)
    const taken: (() => void)[] = []
    const release = () => {
      for (const each of taken) each()
    }
    try {
      taken.push(await ofDatasources.acquire(datasourceOf(query), { signal }))
      taken.push(await ofCompanies.acquire(companyId, { signal }))
      taken.push(await ofAll.acquire({ holders: [companyId], signal }))
      return release
    } catch (error) {
      release()
      throw new Error('more look-ups in datasources are under way than end in time', { cause: error })
    }
  }
}

/** What an entry costs beside its rows. */
const overheadBytes = 200

/**
 * Keeps rows by datasource, revision and query, so that runs that ask the same cost the store one statement for as long
 * as the rows stay as they are. The revision of a datasource in use is read again behind the answer. While the store is
 * down, what is kept goes on being answered.
 */
export function createRowCache({
  source,
  clock,
  maxBytes = 32 * 2 ** 20,
  maxStatements = 32,
  waitMs = 200,
}: RowCacheOptions) {
  const takeTurn = createTurns(maxStatements, waitMs)
  const revisions = createLoadingCache({
    load: ({ companyId, datasourceId }: RowQuery) => source.revisionOf(companyId, datasourceId),
    keyOf: datasourceOf,
    ...{ clock, freshMs },
    renewShare: 0.5,
    staleOnError: true,
  })
  const kept = createLoadingCache<RevisionQuery, Entry>({
    load: ask,
    keyOf: ({ query, revision }) => `${revision} ${keyOf(query)}`,
    clock,
    freshMs: ({ isCurrent }) => (isCurrent ? Number.POSITIVE_INFINITY : 0),
    size: { maxBytes, maxEntryBytes: maxBytes / 8, bytesOf: ({ bytes }, key) => bytes + key.length },
  })

  async function ask({ query, revision }: RevisionQuery): Promise<Entry> {
    const release = await takeTurn(query)
    try {
      const answer = await source.queryRows({ ...query, signal: AbortSignal.timeout(statementMs) })
      const isCurrent = answer.revision === revision
      if (!isCurrent) revisions.invalidate((_, datasource) => datasource === datasourceOf(query))
      return { rows: answer.rows, bytes: JSON.stringify(answer.rows).length + overheadBytes, isCurrent }
    } finally {
      release()
    }
  }

  function rowsOf(
    query: RowQuery,
    revision: string | undefined,
  ): readonly DataRow[] | Promise<readonly DataRow[]> {
    const found = kept.find({ query, revision })
    return found instanceof Promise ? found.then(({ rows }) => rows) : found.rows
  }

  return {
    /** At once where the rows are kept. @throws (or rejects) where the store fails and they are not */
    read(query: RowQuery): readonly DataRow[] | Promise<readonly DataRow[]> {
      const revision = revisions.find(query)
      return revision instanceof Promise
        ? revision.then((found) => rowsOf(query, found))
        : rowsOf(query, revision)
    },
    /** Bytes kept, for tests and metrics. */
    size: kept.size,
  }
}
