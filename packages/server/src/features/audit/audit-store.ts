import {
  type AuditAction,
  type AuditCategory,
  type AuditEntry,
  auditActions,
} from '@millrace/contract/resources/audit-entry.ts'
import { auditEntries } from '../../database/tables/audit-entry.ts'
import type { AuditEvent, RecordAudit } from '../../platform/audit.ts'
import { newId } from '../../platform/ids.ts'
import { type Listed, mapListed, type Page, pageOf } from '../../platform/paging.ts'
import { and, desc, eq, gte, lt, sql } from '../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../platform/stores/relational.ts'

/** Of one statement: a few megabytes. */
const maxRows = 5_000

/** A row with the names of `columns`; absent values are null. */
function toRow({ companyId, action, actor, target, error, details = {}, address }: AuditEvent) {
  return {
    id: newId(),
    company_id: companyId,
    category: auditActions[action],
    action,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    target_kind: target?.kind,
    target_id: target?.id,
    target_name: target?.name,
    outcome: error === undefined ? 'success' : 'failure',
    error,
    details,
    address,
  }
}

const texts = [
  ...['id', 'company_id', 'category', 'action', 'actor_kind', 'actor_id', 'actor_name'],
  ...['target_kind', 'target_id', 'target_name', 'outcome', 'error', 'address'],
]
const columns = sql.raw([...texts, 'details'].join(', '))
const columnTypes = sql.raw([...texts.map((name) => `${name} text`), 'details jsonb'].join(', '))

/** Adds entries; the time is the database's. */
export const recordAudit: RecordAudit = async (queries, events) => {
  const all = [events].flat()
  for (let from = 0; from < all.length; from += maxRows) {
    const rows = JSON.stringify(all.slice(from, from + maxRows).map(toRow))
    await sqlOn(queries)`
      insert into ${auditEntries} (${columns}) select ${columns}
      from json_to_recordset(${rows}::json) as entry(${columnTypes})`
  }
}

/** Which entries; absent means any. */
export interface AuditFilter {
  readonly category?: AuditCategory | undefined
  readonly action?: AuditAction | undefined
  readonly actorId?: string | undefined
  readonly targetId?: string | undefined
  readonly outcome?: 'success' | 'failure' | undefined
  /** At or after. */
  readonly from?: Date | undefined
  /** Before. */
  readonly to?: Date | undefined
}

/** The last entry of a page; the next page begins after it. */
export interface AuditCursor {
  /** As the database writes it, with its microseconds. */
  readonly at: string
  readonly id: string
}

type Row = typeof auditEntries.$inferSelect

const toEntry = (row: Row): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  category: row.category as AuditCategory,
  action: row.action as AuditAction,
  actor: { kind: row.actorKind as AuditEntry['actor']['kind'], id: row.actorId, name: row.actorName },
  target: row.targetKind === null ? null : { kind: row.targetKind, id: row.targetId, name: row.targetName },
  outcome: row.outcome,
  error: row.error,
  details: row.details,
  address: row.address,
})

export type AuditStore = ReturnType<typeof createAuditStore>

/** Reads the log, and removes what is older than the retention of its company. */
export function createAuditStore(db: Queries) {
  const matching = (companyId: string, filter: AuditFilter) => {
    const { category, action, actorId, targetId, outcome, from, to } = filter
    return and(
      eq(auditEntries.companyId, companyId),
      category && eq(auditEntries.category, category),
      action && eq(auditEntries.action, action),
      actorId === undefined ? undefined : eq(auditEntries.actorId, actorId),
      targetId === undefined ? undefined : eq(auditEntries.targetId, targetId),
      outcome && eq(auditEntries.outcome, outcome),
      from && gte(auditEntries.at, from),
      to && lt(auditEntries.at, to),
    )
  }
  const newestFirst = [desc(auditEntries.at), desc(auditEntries.id)]

  return {
    /** The newest first. */
    async list(companyId: string, filter: AuditFilter, page: Page): Promise<Listed<AuditEntry>> {
      const where = matching(companyId, filter)
      const query = db
        .select()
        .from(auditEntries)
        .where(where)
        .orderBy(...newestFirst)
      return mapListed(await pageOf(query, db.$count(auditEntries, where), page), toEntry)
    },

    /** A page of the log after a cursor; entries added meanwhile do not shift it. */
    async listAfter(
      companyId: string,
      filter: AuditFilter,
      cursor: AuditCursor | undefined,
      limit: number,
    ): Promise<{ entries: AuditEntry[]; last: AuditCursor | undefined }> {
      const behind =
        cursor &&
        sql`(${auditEntries.at}, ${auditEntries.id}) < (${cursor.at}::timestamptz, ${cursor.id}::text)`
      const rows = await db
        .select({ entry: auditEntries, exactly: sql<string>`${auditEntries.at}::text` })
        .from(auditEntries)
        .where(and(matching(companyId, filter), behind))
        .orderBy(...newestFirst)
        .limit(limit)
      const last = rows.at(-1)
      return {
        entries: rows.map(({ entry }) => toEntry(entry)),
        last: last && { at: last.exactly, id: last.entry.id },
      }
    },

    /** @returns how many were removed, at most `max` */
    async removeOld(max: number): Promise<number> {
      const rows = await sqlOn(db)<{
        removed: number
      }>`
        select remove_old_audit_entries(${max}::integer) as removed`
      return rows[0]?.removed ?? 0
    },
  }
}
