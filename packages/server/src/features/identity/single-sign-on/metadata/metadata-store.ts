import { eq, sql } from 'drizzle-orm'
import { ssoConfigs } from '../../../../database/tables/single-sign-on.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

/** A document that is to be read now. */
export interface DueMetadata {
  readonly companyId: string
  readonly url: string
}

/** Metadata that is read again from its address; given a transaction it works inside it. */
export function createMetadataStore(db: Queries) {
  return {
    /** Takes what is due, the longest waiting first; until the lease ends no other process takes it. */
    async takeDue(now: Date, leaseEnd: Date, max: number): Promise<DueMetadata[]> {
      const { rows } = await db.execute<{ company_id: string; metadata_url: string }>(
        sql`update ${ssoConfigs} set metadata_next_at = ${leaseEnd} where company_id in (
            select company_id from ${ssoConfigs} where metadata_url is not null and metadata_next_at <= ${now}
            order by metadata_next_at, company_id limit ${max} for update skip locked)
          returning company_id, metadata_url`,
      )
      return rows.map(({ company_id: companyId, metadata_url: url }) => ({ companyId, url }))
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
