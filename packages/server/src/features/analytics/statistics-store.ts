import { DomainError } from '../../platform/errors.ts'
import { type Columnar, ColumnarTimeout } from '../../platform/stores/columnar.ts'
import type { SourceId } from './catalogue/member.ts'

/** Label keys that the metadata shows of each source: all can be queried, whether shown or not. */
export const shownLabels = 1_000

const limitSeconds = 5

/** Of the sources that have labels; those of workflows are parameters. */
export type LabelKeys = Readonly<Partial<Record<SourceId, readonly string[]>>>

/** Tables of the loader's own, which no answer rests on. */
const tablesOfLoading = ['event_keys', 'datasource_log']
/** Tables whose names begin so are those to which batches go first. */
const stagingPrefix = 'staging'

interface StoredPart {
  readonly table: string
  readonly partition: string
  /** Numbers of its blocks: one that is inserted has a number of its own, a merged one covers those it is made of. */
  readonly first: number
  readonly last: number
  readonly version: number
  readonly rows: number
}

/** Names what parts hold by partition, so that it does not depend on which are merged. */
function nameOf(parts: readonly StoredPart[]): string {
  const partitions = [...Map.groupBy(parts, ({ table, partition }) => `${table} ${partition}`)].map(
    ([name, those]) => {
      const blocks = those.reduce((sum, { first, last }) => sum + last - first + 1, 0)
      const rows = those.reduce((sum, part) => sum + part.rows, 0)
      const last = Math.max(...those.map((part) => part.last))
      const version = Math.max(...those.map((part) => part.version))
      return [name, blocks, last, version, rows].join(' ')
    },
  )
  return partitions.sort().join()
}

export type StatisticsStore = ReturnType<typeof createStatisticsStore>

/**
 * @param hidden datasources whose events are not read, although they are stored
 * @throws {DomainError} timeout
 */
export function createStatisticsStore({
  columnar,
  hidden,
}: {
  readonly columnar: Columnar
  readonly hidden: { readonly ids: () => readonly string[] }
}) {
  const hiddenNow = (): string => hidden.ids().join(' ')

  const readParts = sharedRead(async () =>
    nameOf(
      await columnar.query<StoredPart>({
        // Without sums: the engine takes as long to begin one as it takes to list the parts.
        sql: `SELECT table, partition_id AS partition, min_block_number AS first, max_block_number AS last,
                data_version AS version, rows
              FROM system.parts
              WHERE active AND database = currentDatabase() AND table NOT IN {ignored:Array(String)}
                AND NOT startsWith(table, {staging:String})`,
        params: { ignored: tablesOfLoading, staging: stagingPrefix },
        settings: { max_execution_time: limitSeconds },
      }),
    ),
  )

  return {
    /** Names the datasources that are not read although they are stored: another text as soon as one is deleted. */
    hiddenNow,

    /**
     * Names what is stored, of all companies: another text as soon as anything that answers rest on was added, changed
     * or removed, by whichever process. Merging of what is stored in the background may change it too.
     */
    async readVersion(): Promise<string> {
      const without = hiddenNow()
      return `${await readParts()} ${without}`
    },

    /** Label keys of the company's facts by source, in the order of their bytes, the first thousand. */
    async listLabels(companyId: string): Promise<LabelKeys> {
      try {
        const rows = await columnar.query<{ source: SourceId; key: string }>({
          sql: `SELECT DISTINCT source, key FROM label_keys WHERE company = {company:String}
                ORDER BY source, key LIMIT ${shownLabels} BY source`,
          params: { company: companyId },
          settings: { max_execution_time: limitSeconds },
        })
        const keysOf = (of: SourceId) => rows.filter(({ source }) => source === of).map(({ key }) => key)
        return {
          events: keysOf('events'),
          purchases: keysOf('purchases'),
          workflows: keysOf('workflows'),
        }
      } catch (error) {
        if (!(error instanceof ColumnarTimeout)) throw error
        throw new DomainError('timeout', { limitSeconds }, { cause: error })
      }
    },
  }
}

/** A read whose answer is never older than the question: all who ask while one is under way share the next one. */
function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  let next: Promise<T> | undefined

  function begin(): Promise<T> {
    const reading = read().finally(() => {
      if (underWay === reading) underWay = undefined
    })
    underWay = reading
    return reading
  }

  return () => {
    if (!underWay) return begin()
    next ??= underWay
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return begin()
      })
    return next
  }
}
