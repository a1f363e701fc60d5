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

  const readParts = sharedRead(async () => {
    // A part that is inserted has a number of its own; a merged one covers those that it is made of.
    const [row] = await columnar.query<{ version: string }>({
      sql: `SELECT toString(sum(sipHash64(table, partition_id, blocks, last, version, rows))) AS version
            FROM (
              SELECT table, partition_id, sum(max_block_number - min_block_number + 1) AS blocks,
                max(max_block_number) AS last, max(data_version) AS version, sum(rows) AS rows
              FROM system.parts
              WHERE active AND database = currentDatabase() AND table NOT IN {ignored:Array(String)}
                AND NOT startsWith(table, {staging:String})
              GROUP BY table, partition_id
            )`,
      params: { ignored: tablesOfLoading, staging: stagingPrefix },
      settings: { max_execution_time: limitSeconds },
    })
    return row?.version ?? ''
  })

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
