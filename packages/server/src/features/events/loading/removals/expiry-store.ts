import { timeColumns } from '../../../../database/event-tables.ts'
import { type SQL, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'
import type { RowCondition } from './removal-store.ts'

/** Events of some datasources that are older than they are kept. */
export interface Expiry {
  readonly companyIds: readonly string[]
  readonly datasourceIds: readonly string[]
  /** A midnight of UTC: what happened before it is removed. */
  readonly before: Date
}

/** A company, or one datasource of it, and for how many days its events might be kept. */
export interface RetentionQuestion {
  readonly companyId: string
  readonly datasourceId?: string
  readonly days: number
}

export interface HoldingExperiment {
  readonly id: string
  readonly name: string
}

/** Of one statement, so that its parameters stay short. */
const maxDatasources = 1_000

/** Days before its start of which an experiment counts exposures (docs/experiments.md, Exposures that never count). */
const daysBeforeStart = 7
/** Days for which an experiment that has ended holds its events: the longest window, and time to decide. */
const daysAfterEnd = 90
/** A change can be undone for so long before anything is removed. */
export const hoursToUndo = 24

/** Experiments of which figures are still computed hold what they are computed of, their days before included. */
const isHolding = sql`e.company_id = kept.company_id and (e.status = 'running'
  or e.status = 'ended' and e.ended_at > now() - make_interval(days => ${daysAfterEnd}))`
const daysBefore = sql`make_interval(days => ${daysBeforeStart} + coalesce(e.cuped_days, 0))`
const heldSince = sql`(select min(e.started_at - ${daysBefore}) from experiments e where ${isHolding})`

/** The midnight of UTC from which on events are kept for so many days, or longer because an experiment holds them. */
const keptFrom = (days: SQL) => sql`least(
  date_trunc('day', now() at time zone 'UTC') - make_interval(days => ${days}),
  date_trunc('day', ${heldSince} at time zone 'UTC'))`

const asInstant = sql.raw(`'YYYY-MM-DD"T"HH24:MI:SS"Z"'`)

/** Tables whose rows expire. */
export const expiringTables = Object.keys(timeColumns) as (keyof typeof timeColumns)[]

/** Rows of a table that are older than they are kept. */
export function expiredRows(table: keyof typeof timeColumns, expiry: Expiry): RowCondition {
  const { companyIds, datasourceIds, before } = expiry
  return {
    sql: `company IN {companies: Array(String)} AND datasource IN {datasources: Array(String)}
      AND ${timeColumns[table]} < {before: DateTime64(3, 'UTC')}`,
    params: { companies: companyIds, datasources: datasourceIds, before },
  }
}

export type ExpiryStore = ReturnType<typeof createExpiryStore>

/** How long the events of datasources are kept. */
export function createExpiryStore(db: Queries) {
  return {
    /** What may be removed now, the same time together. */
    async listDue(): Promise<Expiry[]> {
      const rows = await sqlOn(db)<{ companyIds: string[]; datasourceIds: string[]; before: string }>`
        with kept as (
          select d.id, d.company_id, c.id as company,
            coalesce(d.event_retention_days, c.event_retention_days) as days,
            case when d.event_retention_days is null
              then greatest(c.event_retention_since, d.event_retention_since) else d.event_retention_since
            end as since
          from datasources d join companies c on c.id = d.company_id
          where d.status <> 'deleted' and d.kind <> 'worker'
        ), expiring as (
          select id, company_id, ${keptFrom(sql`days`)} as before
          from kept
          where days is not null and since <= now() - make_interval(hours => ${hoursToUndo})
        ), numbered as (
          select *, (row_number() over (partition by before order by id) - 1) / ${maxDatasources}::int as chunk from expiring
        )
        select array_agg(distinct company_id) as "companyIds", array_agg(id) as "datasourceIds",
          to_char(before, ${asInstant}) as before
        from numbered group by numbered.before, chunk order by numbered.before, chunk`
      return rows.map(({ before, ...of }) => ({ ...of, before: new Date(before) }))
    },

    /**
     * What would be removed if the company, or one datasource of it, kept events for so many days.
     * @returns also the experiments that hold events which would be removed otherwise
     */
    async planFor({ companyId, datasourceId, days }: RetentionQuestion) {
      const [found] = await sqlOn(db)<{ datasourceIds: string[]; before: string; held: HoldingExperiment[] }>`
        with kept as (select ${companyId}::text as company_id)
        select to_char(${keptFrom(sql`${days}::int`)}, ${asInstant}) as before,
          array(select d.id from datasources d
            where d.company_id = kept.company_id and d.status <> 'deleted' and d.kind <> 'worker'
              and case when ${datasourceId ?? null}::text is null then d.event_retention_days is null
                else d.id = ${datasourceId ?? null} end
            order by d.id limit ${maxDatasources}) as "datasourceIds",
          (select coalesce(json_agg(json_build_object('id', e.id, 'name', e.name) order by e.started_at), '[]')
            from experiments e where ${isHolding}
              and e.started_at - ${daysBefore} < now() - make_interval(days => ${days}::int)) as held
        from kept`
      const { before = '', datasourceIds = [], held = [] } = found ?? {}
      return { expiry: { companyIds: [companyId], datasourceIds, before: new Date(before) }, held }
    },
  }
}
