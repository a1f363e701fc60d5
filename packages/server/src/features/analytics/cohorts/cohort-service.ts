import type {
  Cohort,
  CohortCreation,
  CohortMember,
  CohortRule,
  CohortSize,
  CohortUpdate,
} from '@millrace/contract/resources/cohort.ts'
import { cohortLimits } from '@millrace/contract/resources/cohort.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalid } from '../../../platform/invalid.ts'
import { type Listed, mapListed, type Page, rangeOf } from '../../../platform/paging.ts'
import {
  found,
  type ResourceContext,
  recorderOf,
  refusing,
  requireRoom,
} from '../../../platform/resources/resource.ts'
import { assertMayChange } from '../../../platform/statistics-rights.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { assertExpected, type Expected } from '../../../platform/stores/revision.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import type { ReadVisibleWorkflows } from '../definitions/visible-workflows-store.ts'
import type { CohortCondition } from '../query/query.ts'
import type { Now } from '../query/time/dates.ts'
import { openZone } from '../query/time/zone.ts'
import type { StatisticsSettings } from '../question.ts'
import type { CohortListStore } from './cohort-list-store.ts'
import type { CohortPeople, Company } from './cohort-people.ts'
import { conditionOf, createCohortReader } from './cohort-reader.ts'
import {
  type CohortFields,
  type CohortPage,
  createCohortStore,
  type StoredCohort,
  toCohort,
} from './cohort-store.ts'
import { parseCohortRule } from './parse-rule.ts'
import { validateRule } from './validate-rule.ts'

export interface CohortServiceDependencies extends ResourceContext {
  readonly lists: CohortListStore
  readonly people: CohortPeople
  readonly readSettings: (companyId: string) => Promise<Pick<StatisticsSettings, 'timezone' | 'eventAliases'>>
  readonly readVisibleWorkflows: ReadVisibleWorkflows
  /** @throws {DomainError} `usedByWorkflows` while a published workflow uses the cohort */
  readonly requireUnused: (
    tx: Queries,
    reader: { readonly companyId: string; readonly readerId: string },
    cohortId: string,
  ) => Promise<void>
  readonly clock: Clock
}

/** Milliseconds for which a list that was replaced is kept: longer than a query takes. */
const keptFor = 600_000

export type CohortService = ReturnType<typeof createCohortService>

/** Saved groups of persons (docs/statistics.md, Cohorts). */
export function createCohortService(dependencies: CohortServiceDependencies) {
  const { relational, lockCompany, lists, people, readSettings, readVisibleWorkflows, requireUnused, clock } =
    dependencies
  const record = recorderOf('cohort', dependencies.recordAudit)
  const store = createCohortStore(relational.db)

  async function nowOf({ companyId, userId }: Principal): Promise<{ now: Now; company: Company }> {
    const [{ timezone, eventAliases }, visibleWorkflows] = await Promise.all([
      readSettings(companyId),
      readVisibleWorkflows({ companyId, readerId: userId }),
    ])
    const now = { instant: clock.now(), zone: openZone(timezone) }
    return { now, company: { companyId, userId, eventAliases, visibleWorkflows } }
  }

  const get = async ({ companyId }: Principal, id: string): Promise<StoredCohort> =>
    found(await store.find({ companyId, id: normalizeId(id) }), 'cohortNotFound', id)

  /** @throws {DomainError} */
  async function checkRule(principal: Principal, rule: Cohort['rule'] | undefined): Promise<void> {
    if (!rule) return
    validateRule(rule)
    parseCohortRule(rule, (await nowOf(principal)).now)
  }

  /** @returns the cohort, which is locked until the transaction ends */
  async function getToChange(
    tx: Queries,
    { principal }: Caller,
    id: string,
    expected: Expected,
  ): Promise<StoredCohort> {
    const key = { companyId: principal.companyId, id: normalizeId(id) }
    const cohort = found(await createCohortStore(tx).findForUpdate(key), 'cohortNotFound', id)
    assertMayChange(principal, [cohort.ownerId])
    await assertExpected(tx, cohort, expected)
    return cohort
  }

  async function sizeAt(
    { now, company }: { readonly now: Now; readonly company: Company },
    condition: CohortCondition,
    signal: AbortSignal,
  ): Promise<CohortSize> {
    return {
      ...(await people.count({ company, condition, signal })),
      readAt: new Date(now.instant).toISOString(),
    }
  }

  async function change(
    caller: Caller,
    id: string,
    expected: Expected,
    fieldsOf: (cohort: StoredCohort) => Promise<CohortFields>,
  ): Promise<StoredCohort> {
    return relational.transaction(async (tx) => {
      const within = createCohortStore(tx)
      const before = await getToChange(tx, caller, id, expected)
      const fields = await fieldsOf(before)
      if (Object.keys(fields).length === 0) return before
      await within.update(before, { ...fields, lastSavedBy: caller.principal.userId })
      const after = found(await within.find(before), 'cohortNotFound', id)
      await record(tx, caller, 'cohort-update', after, { changed: Object.keys(fields).sort() })
      return after
    })
  }

  return {
    /** Cohorts that queries name, for the statistics service. */
    readCohorts: createCohortReader((companyId, ids) => store.listByIds(companyId, ids)),

    async list({ companyId }: Principal, wanted: CohortPage): Promise<Listed<Cohort>> {
      return mapListed(await store.list(companyId, wanted), toCohort)
    },

    /** @throws {DomainError} `cohortNotFound` */
    async read(principal: Principal, id: string): Promise<Cohort> {
      return toCohort(await get(principal, id))
    },

    /**
     * @throws {DomainError} `cohortNameTaken`, `tooManyCohorts`, `validation`, or what `parseCohortRule` says of the
     *   rule
     */
    async create(caller: Caller, { name, description = '', rule, persons }: CohortCreation): Promise<Cohort> {
      const { companyId, userId } = caller.principal
      if (Boolean(rule) === Boolean(persons)) {
        throw invalid(
          rule ? 'persons' : 'rule',
          'is one of two: give a rule, or a list of persons, and not both',
        )
      }
      await checkRule(caller.principal, rule)
      const id = newId()
      const listed = persons && [...new Set(persons)]
      const listId = listed ? newId() : null
      if (listed && listId !== null) await lists.insert({ companyId, cohortId: id, listId }, listed)
      const insert = () =>
        relational.transaction(async (tx) => {
          const within = createCohortStore(tx)
          await lockCompany(tx, companyId)
          requireRoom('tooManyCohorts', cohortLimits.perCompany, await within.count(companyId))
          await within.insert({
            id,
            companyId,
            name,
            description,
            rule: rule ?? null,
            listId,
            listed: listed?.length ?? null,
            ownerId: userId,
            lastSavedBy: userId,
          })
          const made = toCohort(found(await within.find({ companyId, id }), 'cohortNotFound', id))
          await record(tx, caller, 'cohort-create', { id, name }, { kind: made.kind })
          return made
        })
      try {
        return await refusing({ cohorts_name: ['cohortNameTaken', { name }] }, insert)
      } catch (error) {
        if (listed) await lists.deleteAll({ companyId, cohortId: id }).catch(ignored)
        throw error
      }
    },

    /**
     * @throws {DomainError} `cohortNotFound`, `forbidden`, `savedMeanwhile`, `cohortNameTaken`, `cohortKind`,
     *   `validation`, or what `parseCohortRule` says of the rule
     */
    async update(
      caller: Caller,
      id: string,
      { name, description, rule }: CohortUpdate,
      expected: Expected,
    ): Promise<Cohort> {
      await checkRule(caller.principal, rule)
      const changed = await refusing({ cohorts_name: ['cohortNameTaken', { name: name ?? '' }] }, () =>
        change(caller, id, expected, async (cohort) => {
          if (rule && cohort.rule === null) throw kindError('is a list: make another cohort for the rule')
          return {
            ...(name === undefined || name === cohort.name ? {} : { name }),
            ...(description === undefined || description === cohort.description ? {} : { description }),
            ...(rule ? { rule } : {}),
          }
        }),
      )
      return toCohort(changed)
    },

    /** @throws {DomainError} `cohortNotFound`, `forbidden`, `savedMeanwhile` or `cohortKind` */
    async replaceList(
      caller: Caller,
      id: string,
      persons: readonly string[],
      expected: Expected,
    ): Promise<Cohort> {
      const { companyId } = caller.principal
      const listed = [...new Set(persons)]
      const changed = await change(caller, id, expected, async (cohort) => {
        if (cohort.listId === null) throw kindError('has a rule, which says who belongs to it')
        const listId = newId()
        await lists.insert({ companyId, cohortId: cohort.id, listId }, listed)
        return { listId, listed: listed.length }
      })
      const list = { companyId, cohortId: changed.id, listId: changed.listId ?? '' }
      await lists.deleteReplaced(list, newId(clock.now() - keptFor)).catch(ignored)
      return toCohort(changed)
    },

    /**
     * @throws {DomainError} `cohortNotFound`, `forbidden`, `savedMeanwhile`, or `usedByWorkflows` while a published
     *   workflow uses it
     */
    async delete(caller: Caller, id: string, expected: Expected): Promise<void> {
      const { companyId, userId: readerId } = caller.principal
      const deleted = await relational.transaction(async (tx) => {
        const row = await getToChange(tx, caller, id, expected)
        await createCohortStore(tx).delete(row)
        await requireUnused(tx, { companyId, readerId }, row.id)
        await record(tx, caller, 'cohort-delete', row, {})
        return row
      })
      if (deleted.listId !== null) await lists.deleteAll({ companyId, cohortId: deleted.id }).catch(ignored)
    },

    /** @throws {DomainError} `cohortNotFound`, and the failures of queries */
    async size(principal: Principal, id: string, signal: AbortSignal): Promise<CohortSize> {
      const stored = await get(principal, id)
      const at = await nowOf(principal)
      return sizeAt(at, conditionOf(stored, at.now), signal)
    },

    /** @throws {DomainError} `validation`, what `parseCohortRule` says of the rule, and the failures of queries */
    async sizeOf(principal: Principal, rule: CohortRule, signal: AbortSignal): Promise<CohortSize> {
      validateRule(rule)
      const at = await nowOf(principal)
      return sizeAt(at, parseCohortRule(rule, at.now), signal)
    },

    /** @throws {DomainError} `cohortNotFound`, and the failures of queries */
    async members(
      principal: Principal,
      id: string,
      page: Page,
      signal: AbortSignal,
    ): Promise<Listed<CohortMember>> {
      const stored = await get(principal, id)
      const { now, company } = await nowOf(principal)
      return people.list({ company, condition: conditionOf(stored, now), signal }, rangeOf(page))
    },
  }
}

/** Rows that no cohort refers to are never read: failing to remove them is no failure of the change. */
const ignored = () => undefined

function kindError(reason: string): DomainError {
  return new DomainError('cohortKind', { reason }, { message: `This cohort ${reason}` })
}
