import { ssoConfigs } from '../../../../database/tables/single-sign-on.ts'
import { eq, lte, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

/** A document that is to be read now. */
export interface DueMetadata {
  readonly companyId: string
  readonly url: string
}

/** Metadata that is read again from its address; given a transaction it works inside it. */
export function createMetadataStore(db: Queries) {
  return {
    /** What is due, the longest waiting first. */
    async listDue(now: Date): Promise<DueMetadata[]> {
      const rows = await db
        .select({ companyId: ssoConfigs.companyId, url: ssoConfigs.metadataUrl })
        .from(ssoConfigs)
        .where(lte(ssoConfigs.metadataNextAt, now))
        .orderBy(ssoConfigs.metadataNextAt, ssoConfigs.companyId)
      return rows.flatMap(({ companyId, url }) => (url === null ? [] : [{ companyId, url }]))
    },

    /** Stores what a document has changed. The version stays: sign-ins under way remain valid. */
    async takeOver(
      companyId: string,
      taken: Pick<typeof ssoConfigs.$inferSelect, 'metadataXml' | 'idpSignInUrl' | 'idpCertificates'>,
    ): Promise<void> {
      await db
        .update(ssoConfigs)
        .set({ ...taken, updatedAt: sql`now()` })
        .where(eq(ssoConfigs.companyId, companyId))
    },
  }
}
