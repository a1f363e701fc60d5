import type { PersonErasure } from '@millrace/contract/resources/person-data.ts'
import { sealedColumns } from '../../../database/sealed-columns.ts'
import { erasedIdentifiers, personErasures } from '../../../database/tables/person-erasure.ts'
import { type Listed, mapListed, type Page, pageOf } from '../../../platform/paging.ts'
import { and, asc, desc, eq, isNull, sql } from '../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../platform/stores/relational.ts'

/** What the identifiers of an erasure are sealed for. */
export const referenceContext = sealedColumns.erasureReference.contextOf

type StoredErasure = typeof personErasures.$inferSelect

/** An erasure that is not done. */
export interface OpenErasure {
  readonly id: string
  readonly companyId: string
  readonly requestedBy: string
  /** Null while the hashes are all that is known. */
  readonly sealedReference: Buffer | null
  /** Hashes of the identifiers of one that is repeated after a restore; null otherwise. */
  readonly digests: readonly string[] | null
  /** Whether the reference is what was found already, rows of which may be gone. */
  readonly isFound: boolean
  /** As the database writes it. */
  readonly refuseUntil: string
  /** Of the company one that is told of it; null where it has none. */
  readonly datasourceId: string | null
  /** Of the company: the key of its hashes. */
  readonly salt: string
}

/** Hashes of identifiers that a company refuses. */
export interface RefusedIdentifiers {
  readonly companyId: string
  readonly salt: string
  readonly digests: readonly string[]
}

const toErasure = (row: StoredErasure): PersonErasure => ({
  id: row.id,
  state: row.finishedAt === null ? 'queued' : 'done',
  requestedBy: row.requestedBy,
  requestedAt: row.requestedAt.toISOString(),
  finishedAt: row.finishedAt?.toISOString() ?? null,
  refuseUntil: row.refuseUntil.toISOString(),
  removed: row.removed,
})

export type ErasureStore = ReturnType<typeof createErasureStore>

/** The ledger of erasures, and which identifiers are refused; given a transaction it works inside it. */
export function createErasureStore(db: Queries) {
  const of = (companyId: string) => eq(personErasures.companyId, companyId)
  const execute = sqlOn(db)

  return {
    async insert(erasure: {
      readonly id: string
      readonly companyId: string
      readonly requestedBy: string
      readonly sealedReference: Buffer
      readonly refuseDays: number
    }): Promise<PersonErasure> {
      const { refuseDays, ...row } = erasure
      const refuseUntil = sql`now() + make_interval(days => ${refuseDays})`
      const [inserted] = await db
        .insert(personErasures)
        .values({ ...row, refuseUntil })
        .returning()
      if (!inserted) throw new Error('an insert without conflict gives its row')
      return toErasure(inserted)
    },

    /** Of the hashes of a company. */
    async readSalt(companyId: string): Promise<string> {
      const [row] = await execute<{ salt: string }>`
        select person_salt as salt from companies where id = ${companyId}`
      return row?.salt ?? ''
    },

    countOpen: (companyId: string): Promise<number> =>
      db.$count(personErasures, and(of(companyId), isNull(personErasures.finishedAt))),

    /** Of all companies. */
    countAllOpen: (): Promise<number> => db.$count(personErasures, isNull(personErasures.finishedAt)),

    async find(companyId: string, id: string): Promise<PersonErasure | undefined> {
      const [row] = await db
        .select()
        .from(personErasures)
        .where(and(of(companyId), eq(personErasures.id, id)))
      return row && toErasure(row)
    },

    /** The newest first. */
    async list(companyId: string, page: Page): Promise<Listed<PersonErasure>> {
      const query = db
        .select()
        .from(personErasures)
        .where(of(companyId))
        .orderBy(desc(personErasures.requestedAt), asc(personErasures.id))
      return mapListed(await pageOf(query, db.$count(personErasures, of(companyId)), page), toErasure)
    },

    /** The oldest that is not done. */
    async findOpen(): Promise<OpenErasure | undefined> {
      const [row] = await execute<OpenErasure>`
        select e.id, e.company_id as "companyId", e.requested_by as "requestedBy",
          e.sealed_reference as "sealedReference", e.digests, e.is_found as "isFound",
          e.refuse_until as "refuseUntil", c.person_salt as salt,
          (select min(d.id) from datasources d where d.company_id = e.company_id and d.kind <> 'worker')
            as "datasourceId"
        from person_erasures e join companies c on c.id = e.company_id
        where e.finished_at is null order by e.requested_at, e.id limit 1`
      return row
    },

    /** Refuses events with these hashes until then, or longer where that was said. @returns how many are new */
    async refuse({ companyId, refuseUntil }: OpenErasure, digests: readonly string[]): Promise<number> {
      const rows = await execute<{ isNew: boolean }>`
        insert into ${erasedIdentifiers} as known (company_id, digest, refuse_until)
        select ${companyId}, digest, ${refuseUntil} from unnest(${sql.param([...digests])}::text[]) as digest
        on conflict (company_id, digest)
          do update set refuse_until = greatest(known.refuse_until, excluded.refuse_until)
        returning xmax = 0 as "isNew"`
      return rows.filter(({ isNew }) => isNew).length
    },

    /** Before the first row is removed. */
    async noteFound({ id }: OpenErasure, sealedReference: Buffer): Promise<void> {
      await db
        .update(personErasures)
        .set({ sealedReference, isFound: true })
        .where(and(eq(personErasures.id, id), isNull(personErasures.finishedAt)))
    },

    async finish({ id }: OpenErasure, removed: Readonly<Record<string, number>>): Promise<void> {
      await db
        .update(personErasures)
        .set({ finishedAt: sql`now()`, sealedReference: null, digests: null, removed })
        .where(and(eq(personErasures.id, id), isNull(personErasures.finishedAt)))
    },

    /** Removes hashes whose time is over, and tells the processes that refuse them where there are any. */
    async forgetExpired(): Promise<void> {
      await execute`
        with expired as (delete from ${erasedIdentifiers} where refuse_until <= now() returning 1)
        select pg_notify('person_erasures', '') from expired limit 1`
    },

    /** What is refused now. */
    async listRefused(): Promise<RefusedIdentifiers[]> {
      return await execute<RefusedIdentifiers>`
        select c.id as "companyId", c.person_salt as salt, array_agg(i.digest) as digests
        from ${erasedIdentifiers} i join companies c on c.id = i.company_id
        where i.refuse_until > now() group by c.id`
    },
  }
}
