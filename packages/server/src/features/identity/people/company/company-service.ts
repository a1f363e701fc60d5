import type { Company, CompanyUpdate } from '@millrace/contract/resources/company.ts'
import { changesOf, definedOf } from '../../../../platform/changes.ts'
import { invalid } from '../../../../platform/invalid.ts'
import { found, recorderOf, withIsoDates } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller, Principal } from '../../sessions/principal.ts'
import { createPeopleStore } from '../people-store.ts'
import { requireGrantableRole, requireGrantableTeams, requireUnprovisioned } from '../roles/grants.ts'
import { createCompanyStore, type StoredCompany } from './company-store.ts'
import { requireTimezone, type TimezoneDependencies } from './known-timezone.ts'

export interface CompanyServiceDependencies extends IdentityContext, TimezoneDependencies {
  /** Called in the transaction that gives the company another time zone. */
  readonly onTimezoneChanged: (tx: Queries, companyId: string) => Promise<void>
}

const toCompany = (stored: StoredCompany): Company => withIsoDates(stored)

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

function requireCurrency(currency: string | null | undefined): void {
  if (!currency || currencies.has(currency)) return
  throw invalid('currency', `must be a currency of ISO 4217, as EUR; "${currency}" is none`)
}

export type CompanyService = ReturnType<typeof createCompanyService>

/** The caller's company and its settings. */
export function createCompanyService(dependencies: CompanyServiceDependencies) {
  const { relational, onTimezoneChanged } = dependencies
  const record = recorderOf('company', dependencies.recordAudit)

  async function get(queries: Queries, { companyId }: Principal): Promise<StoredCompany> {
    return found(await createCompanyStore(queries).find(companyId), 'notFound', companyId)
  }

  return {
    async read(principal: Principal): Promise<Company> {
      return toCompany(await get(relational.db, principal))
    },

    /**
     * @throws DomainError `validation` (time zone, currency), `unknownRole`, `roleAboveOwn`, `unknownTeam`, `notInTeam` or
     *   `provisionedTeam`
     */
    async update(caller: Caller, wanted: CompanyUpdate): Promise<Company> {
      const { principal } = caller
      const { companyId } = principal
      const { name, timezone, language, currency, attributionModel, exactCounts, auditRetentionDays } = wanted
      const { clickWindowHours, displayWindowHours, eventRetentionDays, defaultRoleId, defaultTeamId } =
        wanted
      const present = await get(relational.db, principal)
      if (timezone !== undefined && timezone !== present.timezone) {
        await requireTimezone(dependencies, timezone, 'timezone')
      }
      requireCurrency(currency)
      await relational.transaction(async (tx) => {
        const store = createCompanyStore(tx)
        await createPeopleStore(tx).lockCompany(companyId)
        const company = await get(tx, principal)
        const fields = {
          name,
          timezone,
          language,
          currency,
          attributionModel,
          clickWindowHours,
          displayWindowHours,
          exactCounts,
          auditRetentionDays,
          eventRetentionDays,
          defaultRoleId: defaultRoleId && (await requireDefaultRole(tx, principal, company, defaultRoleId)),
          defaultTeamId: defaultTeamId && (await requireDefaultTeam(tx, principal, company, defaultTeamId)),
        }
        const changes = changesOf(company, fields)
        if (changes.changed.length === 0) return
        await store.update(companyId, definedOf(fields))
        if (changes.changed.includes('timezone')) await onTimezoneChanged(tx, companyId)
        await record(tx, caller, 'company-update', company, { ...changes })
      })
      return toCompany(await get(relational.db, principal))
    },
  }

  /** What was read may be sent back: only another role than the present one is given. */
  async function requireDefaultRole(
    tx: Queries,
    principal: Principal,
    { defaultRoleId }: StoredCompany,
    wanted: string,
  ): Promise<string> {
    return wanted.toLowerCase() === defaultRoleId
      ? defaultRoleId
      : requireGrantableRole(tx, principal, wanted)
  }

  /** Users without a team get what this one has, so that it must be the caller's to give. */
  async function requireDefaultTeam(
    tx: Queries,
    principal: Principal,
    { defaultTeamId }: StoredCompany,
    wanted: string,
  ): Promise<string> {
    const [teamId = ''] = await requireGrantableTeams(tx, principal, [wanted], [defaultTeamId])
    if (teamId !== defaultTeamId) await requireUnprovisioned(tx, principal.companyId, [teamId])
    return teamId
  }
}
