import { and, asc, eq, inArray, isNotNull, isNull, ne, notInArray, sql } from 'drizzle-orm'
import { companies } from '../../../../database/tables/company.ts'
import { authorizationCodes, pendingSignIns } from '../../../../database/tables/sign-in.ts'
import {
  samlRequests,
  ssoCertificates,
  ssoConfigs,
  ssoDefaultTeams,
  ssoDomains,
  ssoIdentities,
  ssoUnlinkedNames,
} from '../../../../database/tables/single-sign-on.ts'
import { teams } from '../../../../database/tables/team.ts'
import { accessTokens, refreshTokens } from '../../../../database/tables/token.ts'
import { users } from '../../../../database/tables/user.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

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

  /** Active people of the company's verified domains, without programs. */
  const peopleOfDomains = (companyId: string) =>
    db
      .select({ id: users.id })
      .from(users)
      .innerJoin(ssoDomains, eq(ssoDomains.companyId, users.companyId))
      .where(
        and(
          eq(users.companyId, companyId),
          eq(users.serviceAccount, false),
          isNotNull(ssoDomains.verifiedAt),
          sql`${ssoDomains.domain} = split_part(${users.email}, '@', 2)`,
        ),
      )

  return {
    async find(companyId: string): Promise<StoredConfig | undefined> {
      const [row] = await db.select().from(ssoConfigs).where(ofCompany(companyId))
      return row && { ...row, defaultTeamIds: await listDefaultTeams(companyId) }
    },

    /**
     * Holds the company until the transaction ends, so that two changes of its single sign-on come one after the
     * other, the first configuration too.
     */
    async lockCompany(companyId: string): Promise<void> {
      await db.execute(sql`select 1 from ${companies} where id = ${companyId} for no key update`)
    },

    /** Holds the company against such changes; any number may hold it so at once. */
    async holdCompany(companyId: string): Promise<void> {
      await db.execute(sql`select 1 from ${companies} where id = ${companyId} for share`)
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

    /** What was proven is no longer so, and nobody must sign in this way. */
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

    /** Violates `companies_keep_administrator` unless an administrator of the company has a way in. */
    async requireAdministrator(companyId: string): Promise<void> {
      await db.execute(sql`select require_administrator(${companyId})`)
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
     * Ends sessions of the company's people that began in this way, and what could become one.
     * @param whose `all`, or only people of the verified domains
     * @param keptTokenId an access token whose session stays
     * @returns how many sessions there were
     */
    async endSessions(
      companyId: string,
      method: 'password' | 'sso',
      whose: 'all' | 'domains',
      keptTokenId = '',
    ): Promise<number> {
      const everybody = db.select({ id: users.id }).from(users).where(eq(users.companyId, companyId))
      const people = whose === 'domains' ? peopleOfDomains(companyId) : everybody
      // A sign-in under way holds the person's row shared until its session stands; this waits for it.
      await db
        .select({ id: users.id })
        .from(users)
        .where(inArray(users.id, people))
        .orderBy(asc(users.id))
        .for('update')
      for (const table of [authorizationCodes, pendingSignIns])
        await db.delete(table).where(and(inArray(table.userId, people), eq(table.method, method)))
      const kept = db
        .select({ id: accessTokens.refreshTokenId })
        .from(accessTokens)
        .where(eq(accessTokens.id, keptTokenId))
      const { rowCount } = await db
        .delete(refreshTokens)
        .where(
          and(
            inArray(refreshTokens.userId, people),
            eq(refreshTokens.method, method),
            notInArray(refreshTokens.id, kept),
          ),
        )
      return rowCount ?? 0
    },

    /** Active people who have no password, without programs. */
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

    /** The role that the company itself gives to people who come without one. */
    async findDefaultRole(companyId: string): Promise<string | undefined> {
      const [row] = await db
        .select({ id: companies.defaultRoleId })
        .from(companies)
        .where(eq(companies.id, companyId))
      return row?.id ?? undefined
    },

    async findDefaultTeam(companyId: string): Promise<string | undefined> {
      const [row] = await db
        .select({ id: teams.id })
        .from(teams)
        .where(and(eq(teams.companyId, companyId), teams.isDefault))
      return row?.id
    },

    async companyExists(companyId: string): Promise<boolean> {
      const rows = await db.select({ id: companies.id }).from(companies).where(eq(companies.id, companyId))
      return rows.length > 0
    },

    /** Every configuration, with what its certificates are watched for. */
    async listAll(): Promise<Pick<StoredConfig, 'companyId' | 'idpCertificates' | 'idpEntityId'>[]> {
      const { companyId, idpCertificates, idpEntityId } = ssoConfigs
      return db.select({ companyId, idpCertificates, idpEntityId }).from(ssoConfigs)
    },

    /** Addresses of active people whose role may change the company's users, roles and settings. */
    async listAdministrators(companyId: string): Promise<{ email: string; language: Language }[]> {
      return db
        .select({
          email: users.email,
          language: sql<Language>`coalesce(${users.language}, ${companies.language})`,
        })
        .from(users)
        .innerJoin(companies, eq(companies.id, users.companyId))
        .where(
          and(
            eq(users.companyId, companyId),
            eq(users.status, 'active'),
            ne(users.serviceAccount, true),
            sql`is_administrator_role(${users.roleId})`,
          ),
        )
        .orderBy(asc(users.email))
    },
  }
}
