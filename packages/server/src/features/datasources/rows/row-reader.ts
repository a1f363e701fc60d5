import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import { isSortable } from '@millrace/contract/resources/filter-operators.ts'
import { createLoadingCache } from '../../../platform/cache/loading-cache.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { createSemaphore, SemaphoreFull } from '../../../platform/limits/semaphore.ts'
import { type Relational, RelationalTimeout } from '../../../platform/stores/relational.ts'
import type { createWorkerStore, LiveVersion } from '../refreshes/worker-store.ts'
import {
  type CaseCollation,
  caseCollations,
  compileCount,
  compileRows,
  isByKey,
  type RowOrder,
  type RowRequest,
  type Statement,
} from './compile-query.ts'
import { withRelationalTransaction } from './long-transaction.ts'
import { parseQuery } from './parse-query.ts'

export type DatasourceRow = Record<string, unknown>

export interface RowReaderDependencies {
  readonly relational: Pick<Relational, 'pool'>
  readonly findLive: ReturnType<typeof createWorkerStore>['findLive']
  readonly now: () => number
  /** For ages. */
  readonly steadyClock: Clock
}

export interface RowQuestion {
  readonly query: unknown
  readonly sort: readonly RowOrder[]
}

/** What nodes of workflows ask. */
export interface NodeQuestion {
  readonly companyId: string
  readonly datasourceId: string
  readonly match: 'and' | 'or'
  readonly filters: readonly { readonly field: string; readonly operator: string; readonly value: unknown }[]
  readonly sort?: RowOrder | undefined
  readonly limit: number
  readonly signal: AbortSignal
}

/** Null where all rows of the page are too many bytes. */
interface PageRow {
  readonly row: DatasourceRow | null
}

type Asked = Pick<LiveVersion, 'companyId' | 'datasourceId'>

const statementMs = 5_000
/** A node of a workflow has less time than a user. */
const nodeStatementMs = 2_000
/** Matches beyond it are neither counted nor answered. */
export const maxMatches = 10_000
const nodeRows = 1_000
/** Of rows that are read at once: while a process reads more, other requests wait. */
const maxBytes = 4 * 1024 * 1024
/** Queries that look at more than the rows of some keys. */
const scansAtOnce = 3
const scansWaiting = 60
/** How long a process may take to see that there is another live version. */
const freshMs = 500
/** Whether the rows of a version are dropped already, because another one took its place (SQLSTATE of a table). */
export const isGone = (error: unknown): boolean => (error as { code?: string }).code === '42P01'

/** Reads rows of live versions. */
export function createRowReader({ relational, findLive, now, steadyClock }: RowReaderDependencies) {
  const scans = createSemaphore(scansAtOnce, scansWaiting)
  /** While the store is away the last answer stands: nodes may have its rows. */
  const versions = createLoadingCache({
    load: ({ companyId, datasourceId }: Asked) => findLive(companyId, datasourceId),
    keyOf: ({ companyId, datasourceId }) => `${companyId} ${datasourceId}`,
    clock: steadyClock,
    freshMs,
    absentMs: freshMs,
    staleOnError: true,
  })
  let collation: Promise<CaseCollation | undefined> | undefined

  async function findCollation(): Promise<CaseCollation | undefined> {
    const { rows } = await relational.pool.query<{ name: CaseCollation }>(
      'select collname as name from pg_collation where collname = any($1)',
      [caseCollations],
    )
    return caseCollations.find((name) => rows.some((row) => row.name === name))
  }

  function requestOf(live: LiveVersion, { query, sort }: RowQuestion): Omit<RowRequest, 'collation'> {
    const parsed = parseQuery(query, live.fields, now())
    if ('faults' in parsed) throw invalidQuery(parsed.faults)
    const faults = sort.flatMap(({ field }, i) => {
      const found = live.fields.find(({ name }) => name === field)
      if (found && isSortable(found)) return []
      const sortable = live.fields.filter(isSortable).map(({ name }) => name)
      return [
        {
          path: `sort.${i}.field`,
          message: `must be a sortable field: ${sortable.join(', ') || 'there is none'}`,
        },
      ]
    })
    if (faults.length > 0) throw invalidQuery(faults)
    const { id: versionId, keyField, fields } = live
    return { versionId, keyField, fields, condition: parsed.condition, sort }
  }

  async function complete(request: Omit<RowRequest, 'collation'>): Promise<RowRequest> {
    collation ??= findCollation().catch((error: unknown) => {
      collation = undefined
      throw error
    })
    return { ...request, collation: await collation }
  }

  /** One after the other, over one state of the rows. */
  async function scan<T>(
    { companyId, datasourceId }: Asked,
    timeoutMs: number,
    statements: readonly Statement[],
  ): Promise<T[][]> {
    try {
      return await scans.run(
        () =>
          withRelationalTransaction(relational.pool, async (_, client) => {
            await client.query('set transaction isolation level repeatable read, read only')
            await client.query(`select set_config('statement_timeout', $1, true)`, [String(timeoutMs)])
            const answers: T[][] = []
            for (const { text, values } of statements) {
              answers.push((await client.query(text, [...values])).rows as T[])
            }
            return answers
          }),
        [companyId],
      )
    } catch (error) {
      if (error instanceof SemaphoreFull) {
        const message = 'Too many queries of datasources wait: send it again in a moment'
        throw new DomainError('tooManyRequests', { retryAfter: 1 }, { message, retryAfterSeconds: 1 })
      }
      if (error instanceof RelationalTimeout)
        throw new DomainError('datasourceQueryTooSlow', { id: datasourceId })
      throw error
    }
  }

  async function nodeRowsOf(live: LiveVersion, question: NodeQuestion): Promise<DatasourceRow[]> {
    const { match, filters, sort, limit } = question
    const query = {
      [`$${match}`]: filters.map(({ field, operator, value }) => ({
        // A binding gives no object: a node names a window by its hours.
        [field]: { [operator]: operator.includes('range') ? { hours: value } : value },
      })),
    }
    const request = await complete(
      requestOf(live, { query: filters.length === 0 ? {} : query, sort: sort ? [sort] : [] }),
    )
    const statement = compileRows(request, { limit: Math.min(limit, nodeRows), offset: 0, maxBytes })
    if (isByKey(request.condition, live.keyField)) {
      const { rows } = await relational.pool.query<PageRow>(statement.text, [...statement.values])
      return readRows(rows)
    }
    const [rows = []] = await scan<PageRow>(live, nodeStatementMs, [statement])
    return readRows(rows)
  }

  return {
    /**
     * One page of matches, and how many there are up to `maxMatches`.
     * @throws DomainError `invalidDatasourceQuery`, `datasourceQueryTooSlow` or `tooComplex`
     */
    async readPage(
      live: LiveVersion,
      question: RowQuestion,
      page: { limit: number; offset: number },
    ): Promise<{ rows: DatasourceRow[]; count: number }> {
      const request = await complete(requestOf(live, question))
      const [rows = [], [counted] = []] = await scan<PageRow & { count: number }>(live, statementMs, [
        compileRows(request, { ...page, maxBytes }),
        compileCount(request, maxMatches),
      ])
      return { rows: readRows(rows), count: counted?.count ?? 0 }
    },

    /**
     * Rows for a node of a workflow, and the revision that they are of. A field without a value is absent.
     * @throws DomainError `datasourceNotLive`, and those of `readPage`
     */
    async queryRows(question: NodeQuestion): Promise<{ rows: DatasourceRow[]; revision: string }> {
      const { datasourceId, signal } = question
      for (let isAgain = false; ; isAgain = true) {
        signal.throwIfAborted()
        const live = await versions.find(question)
        if (!live) throw new DomainError('datasourceNotLive', { id: datasourceId })
        try {
          return { rows: await nodeRowsOf(live, question), revision: revisionOf(live) }
        } catch (error) {
          // The version was replaced, and its rows are dropped already.
          if (isAgain || !isGone(error)) throw error
          versions.invalidate((version) => version === live)
        }
      }
    },

    /** Another text whenever the rows are others, within half a second; undefined without a live version. */
    async revisionOf(companyId: string, datasourceId: string): Promise<string | undefined> {
      const live = await versions.find({ companyId, datasourceId })
      return live && revisionOf(live)
    },
  }
}

export type RowReader = ReturnType<typeof createRowReader>

export const revisionOf = ({ id, revision }: Pick<LiveVersion, 'id' | 'revision'>): string =>
  `${id}.${revision}`

function readRows(rows: readonly PageRow[]): DatasourceRow[] {
  return rows.map(({ row }) => {
    if (row !== null) return row
    const message = 'The rows have more than 4 MB together: ask for fewer at once'
    throw new DomainError('tooComplex', { limit: '4 MB' }, { message })
  })
}

function invalidQuery(
  faults: readonly { path: string; message: string }[],
): DomainError<'invalidDatasourceQuery'> {
  const [first] = faults
  return new DomainError(
    'invalidDatasourceQuery',
    { errors: [...faults] },
    { message: `${first?.path} ${first?.message}` },
  )
}

/** The fields asked for, null where a row has no value. */
export function shownRow(row: DatasourceRow, fields: readonly WorkerField[]): DatasourceRow {
  return Object.fromEntries(fields.map(({ name }) => [name, Object.hasOwn(row, name) ? row[name] : null]))
}
