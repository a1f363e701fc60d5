import type {
  Cohort,
  CohortCreation,
  CohortMember,
  CohortSize,
  CohortUpdate,
} from '@millrace/contract/resources/cohort.ts'
import { cohortLimits } from '@millrace/contract/resources/cohort.ts'
import { auditEventOf, type RecordAudit } from '../../../platform/audit.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalid } from '../../../platform/invalid.ts'
import { type Listed, type Page, rangeOf } from '../../../platform/paging.ts'
import { assertMayChange } from '../../../platform/statistics-rights.ts'
import { mapConstraintViolation, type Queries, type Relational } from '../../../platform/stores/relational.ts'
import { assertExpected, type Expected } from '../../../platform/stores/revision.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import type { ReadSight } from '../definitions/sight-store.ts'
import type { WorkflowSight } from '../query/compile/compile-sight.ts'
import type { Now } from '../query/time/dates.ts'
import { openZone } from '../query/time/zone.ts'
import type { StatisticsSettings } from '../question.ts'
import type { CohortListStore } from './cohort-list-store.ts'
import type { CohortPeople, Company } from './cohort-people.ts'
import { conditionOf, createCohortReader } from './cohort-reader.ts'
import { type CohortFields, createCohortStore, type StoredCohort, toCohort } from './cohort-store.ts'
import { parseCohortRule } from './parse-rule.ts'
import { assertRuleShape } from './rule-shape.ts'

export interface CohortServiceDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly lists: CohortListStore
  readonly people: CohortPeople
  readonly recordAudit: RecordAudit
  readonly readSettings: (companyId: string) => Promise<Pick<StatisticsSettings, 'timezone' | 'eventAliases'>>
  readonly readSight: ReadSight
  /** @throws {DomainError} `usedByWorkflows` while a published workflow uses the cohort: it names those that are seen */
  readonly requireUnused: (
    tx: Queries,
    companyId: string,
    cohortId: string,
    seen: WorkflowSight,
  ) => Promise<void>
  readonly clock: Clock
}

/** Milliseconds for which a list that was replaced is kept: longer than a query takes. */
const keptFor = 600_000

export type CohortService = ReturnType<typeof createCohortService>

/** Saved groups of persons (docs/statistics.md, Cohorts). */
export function createCohortService(dependencies: CohortServiceDependencies) {
  const { relational, lists, people, recordAudit, readSettings, readSight, requireUnused, clock } =
    dependencies
  const store = createCohortStore(relational.db)

  async function nowOf({ companyId, userId }: Principal): Promise<{ now: Now; company: Company }> {
    const [{ timezone, eventAliases }, sight] = await Promise.all([
      readSettings(companyId),
      readSight({ companyId, readerId: userId }),
    ])
    const now = { instant: clock.now(), zone: openZone(timezone) }
    return { now, company: { companyId, userId, eventAliases, sight } }
  }

  const absent = (id: string) => new DomainError('cohortNotFound', { id: normalizeId(id) })

  async function get({ companyId }: Principal, id: string): Promise<StoredCohort> {
    const found = await store.find(companyId, normalizeId(id))
    if (!found) throw absent(id)
    return found
  }

  /** @throws {DomainError} */
  async function checkRule(principal: Principal, rule: Cohort['rule'] | undefined): Promise<void> {
    if (!rule) return
    assertRuleShape(rule)
    parseCohortRule(rule, (await nowOf(principal)).now)
  }

  /** @returns the cohort, which is locked until the transaction ends */
  async function getToChange(
    tx: Queries,
    { principal }: Caller,
    id: string,
    expected: Expected,
  ): Promise<StoredCohort> {
    const found = await createCohortStore(tx).findForUpdate(principal.companyId, normalizeId(id))
    if (!found) throw absent(id)
    assertMayChange(principal, [found.ownerId])
    await assertExpected(tx, found, expected)
    return found
  }

  async function change(
    caller: Caller,
    id: string,
    expected: Expected,
    fieldsOf: (cohort: StoredCohort) => Promise<CohortFields>,
  ): Promise<StoredCohort> {
    const { companyId, userId } = caller.principal
    return relational.transaction(async (tx) => {
      const before = await getToChange(tx, caller, id, expected)
      const fields = await fieldsOf(before)
      if (Object.keys(fields).length === 0) return before
      const after = await createCohortStore(tx).update(companyId, before.id, {
        ...fields,
        lastSavedBy: userId,
      })
      await recordAudit(
        tx,
        auditEventOf(caller, 'cohort-update', targetOf(after), { changed: Object.keys(fields).sort() }),
      )
      return after
    })
  }

  return {
    /** Cohorts that queries name, for the statistics service. */
    readCohorts: createCohortReader((companyId, ids) => store.listByIds(companyId, ids)),

    async list({ companyId }: Principal, page: Page): Promise<Listed<Cohort>> {
      const [rows, count] = await Promise.all([store.list(companyId, rangeOf(page)), store.count(companyId)])
      return { rows: rows.map(toCohort), count }
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
          await within.lockCompany(companyId)
          const limit = cohortLimits.perCompany
          if ((await within.count(companyId)) >= limit) throw new DomainError('tooManyCohorts', { limit })
          const made = await within.insert({
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
          await recordAudit(
            tx,
            auditEventOf(caller, 'cohort-create', targetOf(made), { kind: toCohort(made).kind }),
          )
          return toCohort(made)
        })
      try {
        return await naming(name, insert)
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
      const changed = await naming(name ?? '', () =>
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
      const { companyId, userId } = caller.principal
      const sight = await readSight({ companyId, readerId: userId })
      const deleted = await relational.transaction(async (tx) => {
        const row = await getToChange(tx, caller, id, expected)
        await createCohortStore(tx).delete(companyId, row.id)
        await requireUnused(tx, companyId, row.id, sight)
        await recordAudit(tx, auditEventOf(caller, 'cohort-delete', targetOf(row), {}))
        return row
      })
      if (deleted.listId !== null) await lists.deleteAll({ companyId, cohortId: deleted.id }).catch(ignored)
    },

    /** @throws {DomainError} `cohortNotFound`, and the failures of queries */
    async size(principal: Principal, id: string, signal: AbortSignal): Promise<CohortSize> {
      const stored = await get(principal, id)
      const { now, company } = await nowOf(principal)
      const counted = await people.count({ company, condition: conditionOf(stored, now), signal })
      return { ...counted, readAt: new Date(now.instant).toISOString() }
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

/** A name that is taken, as an error that says so. */
const naming = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  mapConstraintViolation(work, (constraint, cause) =>
    constraint === 'cohorts_name' ? new DomainError('cohortNameTaken', { name }, { cause }) : undefined,
  )

function kindError(reason: string): DomainError {
  return new DomainError('cohortKind', { reason }, { message: `This cohort ${reason}` })
}

const targetOf = ({ id, name }: Pick<StoredCohort, 'id' | 'name'>) => ({ kind: 'cohort', id, name })
