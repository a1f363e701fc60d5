import type { Clock } from '../../../platform/clock.ts'
import { createKeyedSemaphore, createSemaphore } from '../../../platform/limits/semaphore.ts'
import type { DataRow, RowQuery, RowSource } from '../ports.ts'

/** For how long the revision of a datasource is taken for the present one, and when it is asked for again. */
const freshMs = 800
const renewalMs = 400
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

interface Revision {
  value: string | undefined
  checkedAt: number
  renewal: Promise<void> | undefined
}

interface Entry {
  readonly rows: readonly DataRow[]
  readonly revision: string
  readonly bytes: number
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
 * as the rows stay as they are. The revision of a datasource in use is read again in the background. While the store is
 * down, what is kept goes on being answered.
 */
export function createRowCache({
  source,
  clock,
  maxBytes = 32 * 2 ** 20,
  maxStatements = 32,
  waitMs = 200,
}: RowCacheOptions) {
  const revisions = new Map<string, Revision>()
  const kept = new Map<string, Entry>()
  const pending = new Map<string, Promise<readonly DataRow[]>>()
  const takeTurn = createTurns(maxStatements, waitMs)
  let bytes = 0

  function keep(key: string, entry: Entry): void {
    remove(key)
    if (entry.bytes > maxBytes / 8) return
    kept.set(key, entry)
    bytes += entry.bytes
    for (const oldest of kept.keys()) {
      if (bytes <= maxBytes) break
      remove(oldest)
    }
  }

  function remove(key: string): void {
    const entry = kept.get(key)
    if (!entry) return
    kept.delete(key)
    bytes -= entry.bytes
  }

  function note(datasource: string, value: string | undefined): void {
    const known = revisions.get(datasource)
    const checkedAt = clock.now()
    if (known) Object.assign(known, { value, checkedAt })
    else revisions.set(datasource, { value, checkedAt, renewal: undefined })
  }

  function renew(query: RowQuery, revision: Revision): Promise<void> {
    revision.renewal ??= source
      .revisionOf(query.companyId, query.datasourceId)
      .then((value) => note(datasourceOf(query), value))
      .catch(() => {
        // The last known one stands while the store is down.
        revision.checkedAt = clock.now()
      })
      .finally(() => {
        revision.renewal = undefined
      })
    return revision.renewal
  }

  async function ask(query: RowQuery, key: string): Promise<readonly DataRow[]> {
    const release = await takeTurn(query)
    try {
      const { rows, revision } = await source.queryRows({
        ...query,
        signal: AbortSignal.timeout(statementMs),
      })
      note(datasourceOf(query), revision)
      keep(key, { rows, revision, bytes: JSON.stringify(rows).length + key.length + overheadBytes })
      return rows
    } finally {
      release()
    }
  }

  function askOnce(query: RowQuery, key: string): Promise<readonly DataRow[]> {
    const running = pending.get(key)
    if (running) return running
    const started = ask(query, key).finally(() => pending.delete(key))
    pending.set(key, started)
    return started
  }

  /** What is kept under the revision, and counts as used now. */
  function find(key: string, revision: string | undefined): readonly DataRow[] | undefined {
    const entry = kept.get(key)
    if (!entry) return undefined
    if (entry.revision !== revision) {
      remove(key)
      return undefined
    }
    kept.delete(key)
    kept.set(key, entry)
    return entry.rows
  }

  return {
    /** At once where the rows are kept. @throws (or rejects) where the store fails and they are not */
    read(query: RowQuery): readonly DataRow[] | Promise<readonly DataRow[]> {
      const key = keyOf(query)
      const revision = revisions.get(datasourceOf(query))
      if (revision === undefined || !kept.has(key)) return askOnce(query, key)
      const age = clock.now() - revision.checkedAt
      if (age >= renewalMs) {
        const renewal = renew(query, revision)
        if (age >= freshMs) return renewal.then(() => find(key, revision.value) ?? askOnce(query, key))
      }
      return find(key, revision.value) ?? askOnce(query, key)
    },
    /** Bytes kept, for tests and metrics. */
    size: () => bytes,
  }
}
