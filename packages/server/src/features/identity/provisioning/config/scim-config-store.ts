import { scimConfigs, scimRoleMappings } from '../../../../database/tables/provisioning.ts'
import { columnsOf, eq, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'
import { createPeopleStore } from '../../people/people-store.ts'

/** A group of the identity provider and the role that being in it gives. */
export interface RoleMapping {
  readonly group: string
  readonly roleId: string
}

/** A company's provisioning settings; null is not set. */
export type ProvisioningSettings = Omit<typeof scimConfigs.$inferSelect, 'companyId'> & {
  readonly roleMapping: readonly RoleMapping[]
}

export type SettingsFields = Partial<Omit<typeof scimConfigs.$inferInsert, 'companyId' | 'lastSyncAt'>>

const defaults: ProvisioningSettings = {
  enabled: false,
  groupSync: true,
  roleSource: null,
  roleMapping: [],
  defaultRoleId: null,
  deprovisionMode: 'soft',
  lastSyncAt: null,
}

/** The provisioning configuration of companies; given a transaction it works inside it. */
export function createScimConfigStore(db: Queries) {
  const execute = sqlOn(db)

  const mapping = sql<RoleMapping[]>`coalesce((
    select json_agg(json_build_object('group', m.group_name, 'roleId', m.role_id) order by m.position)
    from ${scimRoleMappings} as m where m.company_id = "scim_configs"."company_id"), '[]')`

  return {
    /** Defaults where nothing is set yet. */
    async find(companyId: string): Promise<ProvisioningSettings> {
      const [row] = await db
        .select({
          ...columnsOf(scimConfigs, ['enabled', 'groupSync', 'roleSource']),
          roleMapping: mapping,
          ...columnsOf(scimConfigs, ['defaultRoleId', 'deprovisionMode', 'lastSyncAt']),
        })
        .from(scimConfigs)
        .where(eq(scimConfigs.companyId, companyId))
      return row ?? defaults
    },

    /** Locks a company's provisioning until the transaction ends: one change at a time. */
    async lock(companyId: string): Promise<void> {
      // The company first, as every change of users and teams does.
      await createPeopleStore(db).lockCompany(companyId)
      await db.insert(scimConfigs).values({ companyId }).onConflictDoNothing()
      await execute`select 1 from ${scimConfigs} where company_id = ${companyId} for update`
    },

    async update(companyId: string, fields: SettingsFields): Promise<void> {
      if (Object.keys(fields).length === 0) return
      await db.update(scimConfigs).set(fields).where(eq(scimConfigs.companyId, companyId))
    },

    async replaceMapping(companyId: string, entries: readonly RoleMapping[]): Promise<void> {
      await db.delete(scimRoleMappings).where(eq(scimRoleMappings.companyId, companyId))
      if (entries.length === 0) return
      await db
        .insert(scimRoleMappings)
        .values(
          entries.map(({ group, roleId }, position) => ({ companyId, position, groupName: group, roleId })),
        )
    },

    /** Notes a success of the identity provider, unless the configuration is locked at the moment. */
    async noteSync(companyId: string): Promise<void> {
      await execute`
        update ${scimConfigs} set last_sync_at = now() where company_id in (
        select company_id from ${scimConfigs} where company_id = ${companyId}
          and (last_sync_at is null or last_sync_at < now() - interval '1 second')
        for update skip locked)`
    },
  }
}
