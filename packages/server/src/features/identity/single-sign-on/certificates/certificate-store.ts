import { sealedColumns } from '../../../../database/sealed-columns.ts'
import { ssoCertificateNotices, ssoCertificates } from '../../../../database/tables/single-sign-on.ts'
import type { SecretBox } from '../../../../platform/crypto/secret-box.ts'
import { and, asc, columnsOf, eq } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

export type StoredCertificate = Omit<typeof ssoCertificates.$inferSelect, 'sealedKey'>

/** With the private key in PEM. */
export interface SigningCertificate extends StoredCertificate {
  readonly privateKey: string
}

const { contextOf } = sealedColumns.certificateKey

const columns = columnsOf(ssoCertificates, ['id', 'companyId', 'certificate', 'notAfter', 'createdAt'])

/** Our own certificates; their keys are sealed. Given a transaction it works inside it. */
export function createCertificateStore(db: Queries, box: SecretBox) {
  return {
    async insert({ privateKey, ...certificate }: Omit<SigningCertificate, 'createdAt'>): Promise<void> {
      const sealedKey = box.seal(privateKey, contextOf(certificate.id))
      await db.insert(ssoCertificates).values({ ...certificate, sealedKey })
    },

    /** The oldest first. */
    async list(companyId: string): Promise<StoredCertificate[]> {
      return db
        .select(columns)
        .from(ssoCertificates)
        .where(eq(ssoCertificates.companyId, companyId))
        .orderBy(asc(ssoCertificates.createdAt), asc(ssoCertificates.id))
    },

    /** Of every company, the oldest first. */
    async listAll(): Promise<StoredCertificate[]> {
      return db
        .select(columns)
        .from(ssoCertificates)
        .orderBy(asc(ssoCertificates.createdAt), asc(ssoCertificates.id))
    },

    async openKey(companyId: string, id: string): Promise<string | undefined> {
      const [row] = await db
        .select({ sealedKey: ssoCertificates.sealedKey })
        .from(ssoCertificates)
        .where(and(eq(ssoCertificates.companyId, companyId), eq(ssoCertificates.id, id)))
      return row && box.open(row.sealedKey, contextOf(id)).toString('utf8')
    },

    async delete(companyId: string, id: string): Promise<void> {
      await db
        .delete(ssoCertificates)
        .where(and(eq(ssoCertificates.companyId, companyId), eq(ssoCertificates.id, id)))
    },

    /** False when the mail about this many days was sent before. */
    async insertNotice(companyId: string, fingerprint: string, days: number): Promise<boolean> {
      const inserted = await db
        .insert(ssoCertificateNotices)
        .values({ companyId, fingerprint, days })
        .onConflictDoNothing()
        .returning({ days: ssoCertificateNotices.days })
      return inserted.length > 0
    },
  }
}
