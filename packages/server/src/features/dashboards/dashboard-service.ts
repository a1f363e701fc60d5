import {
  type Dashboard,
  type DashboardInput,
  type DashboardSummary,
  dashboardLimits,
} from '@millrace/contract/resources/dashboard.ts'
import { changesOf } from '../../platform/changes.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import type { Listed, Page } from '../../platform/paging.ts'
import { type Key, madeNow } from '../../platform/resources/company-rows.ts'
import {
  found,
  type ResourceContext,
  recorderOf,
  refusing,
  requireRoom,
} from '../../platform/resources/resource.ts'
import { assertMayChange } from '../../platform/statistics-rights.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import { assertExpected, type Expected } from '../../platform/stores/revision.ts'
import type { RequireMemberTeams } from '../identity/people/teams/resource-groups.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import { type ContentDependencies, createContentCheck } from './dashboard-content.ts'
import {
  createDashboardStore,
  type DashboardFields,
  type DashboardsAsked,
  toDashboard,
  type Viewer,
} from './dashboard-store.ts'

export interface DashboardServiceDependencies extends ResourceContext, ContentDependencies {
  readonly requireMemberTeams: RequireMemberTeams
}

export type DashboardService = ReturnType<typeof createDashboardService>

/** What may be long: the audit log names it without its values. */
const unshown = new Set(['description', 'tiles', 'filters'])

const viewerOf = (principal: Principal): Viewer => ({
  companyId: principal.companyId,
  userId: principal.userId,
  teamIds: principal.teamIds,
  seesAll: principal.can('statistics', 'manage'),
})

const readerOf = ({ companyId, userId: readerId }: Principal) => ({ companyId, readerId })

function fieldsOf(body: DashboardInput): DashboardFields {
  const { name, description = '', tiles, filters = [], range = null, comparison = 'none' } = body
  return { name: name.trim(), description, tiles, filters, range, comparison }
}

/** Dashboards of a company (docs/statistics.md, Dashboards). */
export function createDashboardService(dependencies: DashboardServiceDependencies) {
  const { relational, lockCompany, requireMemberTeams } = dependencies
  const record = recorderOf('dashboard', dependencies.recordAudit)
  const checkContent = createContentCheck(dependencies)
  const store = createDashboardStore(relational.db)

  const get = async (principal: Principal, id: string) =>
    found(await store.find(viewerOf(principal), normalizeId(id)), 'dashboardNotFound', id)

  /** Locked until the transaction ends. */
  async function getToChange(tx: Queries, principal: Principal, id: string, expected: Expected) {
    const held = await createDashboardStore(tx).findForUpdate(viewerOf(principal), normalizeId(id))
    const dashboard = found(held, 'dashboardNotFound', id)
    assertMayChange(principal, [dashboard.ownerId])
    await assertExpected(tx, dashboard, expected)
    return dashboard
  }

  const readBack = async (tx: Queries, key: Key): Promise<Dashboard> =>
    toDashboard(found(await createDashboardStore(tx).findByKey(key), 'dashboardNotFound', key.id))

  /** @throws {DomainError} `tooManyDashboards` */
  async function insert(
    tx: Queries,
    { principal: { companyId, userId } }: Caller,
    fields: DashboardFields,
    teamIds: readonly string[],
  ): Promise<Dashboard> {
    const within = createDashboardStore(tx)
    await lockCompany(tx, companyId)
    requireRoom('tooManyDashboards', dashboardLimits.perCompany, await within.countOfCompany(companyId))
    const key = { id: newId(), companyId }
    await within.insert({ ...key, ...fields, ownerId: userId, lastSavedBy: userId, ...madeNow })
    await within.replaceTeams(key, teamIds)
    return readBack(tx, key)
  }

  return {
    list: (principal: Principal, asked: DashboardsAsked, page: Page): Promise<Listed<DashboardSummary>> =>
      store.list(viewerOf(principal), asked, page),

    /** @throws {DomainError} `dashboardNotFound` */
    async read(principal: Principal, id: string): Promise<Dashboard> {
      return toDashboard(await get(principal, id))
    },

    /** @throws {DomainError} `validation`, failures of queries, `unknownTeam`, `notInTeam` or `tooManyDashboards` */
    async create(caller: Caller, body: DashboardInput): Promise<Dashboard> {
      const { principal } = caller
      const fields = fieldsOf(body)
      await checkContent(fields, readerOf(principal))
      return refusing(failuresOf(body.resourceGroupIds), () =>
        relational.transaction(async (tx) => {
          const resourceGroupIds = await requireMemberTeams(tx, principal, body.resourceGroupIds ?? [])
          const made = await insert(tx, caller, fields, resourceGroupIds)
          await record(tx, caller, 'dashboard-create', made, { tiles: made.tiles.length, resourceGroupIds })
          return made
        }),
      )
    },

    /**
     * @throws {DomainError} `dashboardNotFound`, `forbidden`, `savedMeanwhile`, `validation`, failures of queries,
     *   `unknownTeam` or `notInTeam`
     */
    async replace(caller: Caller, id: string, body: DashboardInput, expected: Expected): Promise<Dashboard> {
      const { principal } = caller
      const fields = fieldsOf(body)
      const present = await get(principal, id)
      assertMayChange(principal, [present.ownerId])
      await assertExpected(relational.db, present, expected)
      await checkContent(fields, readerOf(principal), present)
      return refusing(failuresOf(body.resourceGroupIds), () =>
        relational.transaction(async (tx) => {
          const stored = await getToChange(tx, principal, id, expected)
          const seenBy = stored.resourceGroupIds
          const teamIds = await requireMemberTeams(tx, principal, body.resourceGroupIds ?? [], seenBy)
          const changes = changesOf(stored, { ...fields, resourceGroupIds: teamIds }, unshown)
          if (changes.changed.length > 0) {
            const within = createDashboardStore(tx)
            await within.update(stored, { ...fields, lastSavedBy: principal.userId })
            if (changes.changed.includes('resourceGroupIds')) await within.replaceTeams(stored, teamIds)
            await record(tx, caller, 'dashboard-update', stored, { ...changes })
          }
          return readBack(tx, stored)
        }),
      )
    },

    /** @throws {DomainError} `dashboardNotFound`, `forbidden` or `savedMeanwhile` */
    async delete(caller: Caller, id: string, expected: Expected): Promise<void> {
      await relational.transaction(async (tx) => {
        const stored = await getToChange(tx, caller.principal, id, expected)
        await createDashboardStore(tx).delete(stored)
        await record(tx, caller, 'dashboard-delete', stored)
      })
    },

    /**
     * For the same teams, which see its content already.
     * @throws {DomainError} `dashboardNotFound` or `tooManyDashboards`
     */
    async duplicate(caller: Caller, id: string): Promise<Dashboard> {
      const stored = await get(caller.principal, id)
      const { description, tiles, filters, range, comparison, resourceGroupIds } = stored
      const name = [...`Copy of ${stored.name}`].slice(0, 200).join('')
      return refusing(failuresOf(resourceGroupIds), () =>
        relational.transaction(async (tx) => {
          const fields = { name, description, tiles, filters, range, comparison }
          const copy = await insert(tx, caller, fields, resourceGroupIds)
          await record(tx, caller, 'dashboard-duplicate', copy, { from: stored.id })
          return copy
        }),
      )
    },
  }
}

const failuresOf = (teamIds: string[] = []) =>
  ({ dashboard_teams_team: ['unknownTeam', { teamIds }] }) as const
