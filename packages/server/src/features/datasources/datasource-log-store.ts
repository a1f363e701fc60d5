import type { DatasourceLogEntry } from '@millrace/contract/resources/datasource-log.ts'
import type { Columnar, ColumnarParam } from '../../platform/stores/columnar.ts'

export interface LogFilter {
  readonly kind?: DatasourceLogEntry['kind'] | undefined
  readonly rule?: string | undefined
  /** Received at or after. */
  readonly from?: Date | undefined
  /** Received before. */
  readonly to?: Date | undefined
}

interface LogRow {
  id: string
  receivedMs: number
  kind: DatasourceLogEntry['kind']
  rule: string
  path: string
  sample: string
  count: number
}

/** A user waits for the answer, and the log of a datasource has at most the rows of 30 days. */
const settings = { max_execution_time: 15 }

/** The log of datasources in the columnar store. */
export function createDatasourceLogStore({ columnar }: { columnar: Pick<Columnar, 'query'> }) {
  function conditions(companyId: string, datasourceId: string, filter: LogFilter) {
    const params: Record<string, ColumnarParam> = { company: companyId, datasource: datasourceId }
    let where = 'company = {company: String} and datasource = {datasource: String}'
    const and = (condition: string, name: string, value: ColumnarParam | undefined) => {
      if (value === undefined) return
      where += ` and ${condition}`
      params[name] = value
    }
    and('kind = {kind: String}', 'kind', filter.kind)
    and('rule = {rule: String}', 'rule', filter.rule)
    and('received >= fromUnixTimestamp64Milli({from: Int64})', 'from', filter.from?.getTime())
    and('received < fromUnixTimestamp64Milli({to: Int64})', 'to', filter.to?.getTime())
    return { where, params }
  }

  return {
    /** The newest first. */
    async list(
      companyId: string,
      datasourceId: string,
      filter: LogFilter,
      page: { limit: number; offset: number },
    ): Promise<DatasourceLogEntry[]> {
      const { where, params } = conditions(companyId, datasourceId, filter)
      const rows = await columnar.query<LogRow>({
        sql: `select toString(seq) as id, toUnixTimestamp64Milli(received) as receivedMs, kind, rule, path, sample, count
              from datasource_log where ${where}
              order by received desc, seq desc
              limit {limit: UInt64} offset {offset: UInt64}`,
        params: { ...params, ...page },
        settings,
      })
      return rows.map(({ receivedMs, ...row }) => ({
        ...row,
        datasourceId,
        receivedAt: new Date(receivedMs).toISOString(),
      }))
    },

    async count(companyId: string, datasourceId: string, filter: LogFilter): Promise<number> {
      const { where, params } = conditions(companyId, datasourceId, filter)
      const [row] = await columnar.query<{ count: number }>({
        sql: `select count() as count from datasource_log where ${where}`,
        params,
        settings,
      })
      return row?.count ?? 0
    },
  }
}

export type DatasourceLogStore = ReturnType<typeof createDatasourceLogStore>
