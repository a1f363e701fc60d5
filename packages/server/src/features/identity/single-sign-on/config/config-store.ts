import {
  samlRequests,
  ssoCertificates,
  ssoConfigs,
  ssoDefaultTeams,
  ssoDomains,
  ssoIdentities,
  ssoUnlinkedNames,
} from '../../../../database/tables/single-sign-on.ts'
import { users } from '../../../../database/tables/user.ts'
import { and, asc, eq, isNull, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createSessionStore } from '../../sessions/session-store.ts'

export type StoredConfig = typeof ssoConfigs.$inferSelect & {
  /** Those that still exist, sorted. */
  readonly defaultTeamIds: readonly string[]
}

export type ConfigToSave = Omit<
  typeof ssoConfigs.$inferSelect,
  'createdAt' | 'updatedAt' | 'mandatory' | 'provenAt' | keyof MetadataReading
>

/** How the reading of metadata from its address stands. */
export type MetadataReading = Pick<
  typeof ssoConfigs.$inferSelect,
  'metadataReadAt' | 'metadataError' | 'metadataFailures' | 'metadataNextAt' | 'metadataNotifiedAt'
>

/** The configuration of single sign-on; given a transaction it works inside it. */
export function createConfigStore(db: Queries) {
  const ofCompany = (companyId: string) => eq(ssoConfigs.companyId, companyId)

  async function listDefaultTeams(companyId: string): Promise<string[]> {
    const rows = await db
      .select({ id: ssoDefaultTeams.teamId })
      .from(ssoDefaultTeams)
      .where(eq(ssoDefaultTeams.companyId, companyId))
      .orderBy(asc(ssoDefaultTeams.teamId))
    return rows.map(({ id }) => id)
  }

  /** Users of the company's verified domains, without service accounts. */
  const isOfDomains = (companyId: string) =>
    and(
      eq(users.companyId, companyId),
      eq(users.serviceAccount, false),
      sql`exists (select 1 from ${ssoDomains} as own where own.company_id = ${companyId}
        and own.verified_at is not null and own.domain = split_part(${users.email}, '@', 2))`,
    )

  return {
    async find(companyId: string): Promise<StoredConfig | undefined> {
      const [row] = await db.select().from(ssoConfigs).where(ofCompany(companyId))
      return row && { ...row, defaultTeamIds: await listDefaultTeams(companyId) }
    },

    /** The flags stay as they are; a new configuration is neither mandatory nor proven. */
    async save(config: ConfigToSave, defaultTeamIds: readonly string[]): Promise<void> {
      const { companyId, ...rest } = config
      await db
        .insert(ssoConfigs)
        .values(config)
        .onConflictDoUpdate({ target: ssoConfigs.companyId, set: { ...rest, updatedAt: sql`now()` } })
      await db.delete(ssoDefaultTeams).where(eq(ssoDefaultTeams.companyId, companyId))
      if (defaultTeamIds.length === 0) return
      await db.insert(ssoDefaultTeams).values(defaultTeamIds.map((teamId) => ({ companyId, teamId })))
    },

    /** The configuration is no longer proven or mandatory. */
    async unprove(companyId: string, version: string): Promise<void> {
      await db
        .update(ssoConfigs)
        .set({ provenAt: null, mandatory: false, version, updatedAt: sql`now()` })
        .where(ofCompany(companyId))
    },

    /** Changes neither what is configured nor when it was changed. */
    async saveReading(companyId: string, reading: Partial<MetadataReading>): Promise<void> {
      await db.update(ssoConfigs).set(reading).where(ofCompany(companyId))
    },

    async prove(companyId: string, version: string): Promise<void> {
      await db
        .update(ssoConfigs)
        .set({ provenAt: sql`now()` })
        .where(and(ofCompany(companyId), eq(ssoConfigs.version, version), isNull(ssoConfigs.provenAt)))
    },

    async setMandatory(companyId: string, mandatory: boolean): Promise<void> {
      await db.update(ssoConfigs).set({ mandatory, updatedAt: sql`now()` }).where(ofCompany(companyId))
    },

    /** With everything that belongs to it. False when there is none. */
    async delete(companyId: string): Promise<boolean> {
      const deleted = await db
        .delete(ssoConfigs)
        .where(ofCompany(companyId))
        .returning({ id: ssoConfigs.companyId })
      if (deleted.length === 0) return false
      for (const table of [ssoDomains, ssoCertificates, ssoIdentities, ssoUnlinkedNames, samlRequests])
        await db.delete(table).where(eq(table.companyId, companyId))
      return true
    },

    /**
     * Ends sessions of the company's users that began in this way, and what could become one.
     * @param whose `all`, or only users of the verified domains
     * @param keptTokenId an access token whose session stays
     * @returns how many sessions there were
     */
    async endSessions(
      companyId: string,
      method: 'password' | 'sso',
      whose: 'all' | 'domains',
      keptTokenId = '',
    ): Promise<number> {
      const condition = whose === 'domains' ? isOfDomains(companyId) : eq(users.companyId, companyId)
      return createSessionStore(db).endWhere(condition, { method, keptTokenId })
    },

    /** Active users without a password, service accounts excepted. */
    async listWithoutPassword(companyId: string): Promise<string[]> {
      const rows = await db
        .select({ id: users.id })
        .from(users)
        .where(
          and(
            eq(users.companyId, companyId),
            eq(users.status, 'active'),
            eq(users.serviceAccount, false),
            isNull(users.passwordHash),
          ),
        )
        .orderBy(asc(users.id))
      return rows.map(({ id }) => id)
    },

    /** Every configuration, with what its certificates are watched for. */
    async listAll(): Promise<Pick<StoredConfig, 'companyId' | 'idpCertificates' | 'idpEntityId'>[]> {
      const { companyId, idpCertificates, idpEntityId } = ssoConfigs
      return db.select({ companyId, idpCertificates, idpEntityId }).from(ssoConfigs)
    },
  }
}
