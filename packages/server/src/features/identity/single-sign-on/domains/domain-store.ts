import { ssoConfigs, ssoDomains } from '../../../../database/tables/single-sign-on.ts'
import { companyRows } from '../../../../platform/resources/company-rows.ts'
import { and, asc, eq, isNotNull, isNull, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

export type StoredDomain = typeof ssoDomains.$inferSelect

/** The domains of companies; given a transaction it works inside it. */
export function createDomainStore(db: Queries) {
  const rows = companyRows(db, ssoDomains)
  const verified = (companyId: string) =>
    and(eq(ssoDomains.companyId, companyId), isNotNull(ssoDomains.verifiedAt))

  return {
    list: (companyId: string): Promise<StoredDomain[]> =>
      rows.select(eq(ssoDomains.companyId, companyId), asc(ssoDomains.domain)),

    find: (companyId: string, id: string): Promise<StoredDomain | undefined> => rows.find({ companyId, id }),

    async findByName(companyId: string, domain: string): Promise<StoredDomain | undefined> {
      const [row] = await rows.select(and(eq(ssoDomains.companyId, companyId), eq(ssoDomains.domain, domain)))
      return row
    },

    /** Whose the domain is, by exact name. */
    async findOwner(domain: string): Promise<string | undefined> {
      const [row] = await db
        .select({ companyId: ssoDomains.companyId })
        .from(ssoDomains)
        .where(and(eq(ssoDomains.domain, domain), isNotNull(ssoDomains.verifiedAt)))
      return row?.companyId
    },

    /** The company whose single sign-on a domain has, by exact name. */
    async findSingleSignOn(domain: string): Promise<{ companyId: string; required: boolean } | undefined> {
      const [row] = await db
        .select({ companyId: ssoConfigs.companyId, required: ssoConfigs.mandatory })
        .from(ssoDomains)
        .innerJoin(ssoConfigs, eq(ssoConfigs.companyId, ssoDomains.companyId))
        .where(and(eq(ssoDomains.domain, domain), isNotNull(ssoDomains.verifiedAt)))
      return row
    },

    isVerified: async (companyId: string, domain: string): Promise<boolean> =>
      (await rows.count(and(verified(companyId), eq(ssoDomains.domain, domain)))) > 0,

    hasVerified: async (companyId: string): Promise<boolean> => (await rows.count(verified(companyId))) > 0,

    /** False when the company has claimed the domain already. */
    async insert(domain: Pick<StoredDomain, 'id' | 'companyId' | 'domain' | 'challenge'>): Promise<boolean> {
      const inserted = await db
        .insert(ssoDomains)
        .values(domain)
        .onConflictDoNothing({ target: [ssoDomains.companyId, ssoDomains.domain] })
        .returning({ id: ssoDomains.id })
      return inserted.length > 0
    },

    /** False when it was verified before; violates `sso_domains_verified` when another company has it. */
    async markVerified(companyId: string, id: string): Promise<boolean> {
      const changed = await db
        .update(ssoDomains)
        .set({ verifiedAt: sql`now()` })
        .where(and(rows.one({ companyId, id }), isNull(ssoDomains.verifiedAt)))
        .returning({ id: ssoDomains.id })
      return changed.length > 0
    },

    delete: rows.delete,
  }
}
