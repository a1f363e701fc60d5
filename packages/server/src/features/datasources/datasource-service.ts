import type {
  Datasource,
  DatasourceCreation,
  DatasourceUpdate,
} from '@millrace/contract/resources/datasource.ts'
import type { DatasourceCounters } from '@millrace/contract/resources/datasource-counters.ts'
import type { DatasourceLogEntry } from '@millrace/contract/resources/datasource-log.ts'
import { auditEventOf } from '../../platform/audit.ts'
import { changesOf } from '../../platform/changes.ts'
import { DomainError } from '../../platform/errors.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import { type Listed, type Page, rangeOf } from '../../platform/paging.ts'
import { refusing, requireRoom } from '../../platform/resources/resource.ts'
import type { Queries as AllQueries } from '../../platform/stores/relational.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import { createDatasourceDeletion, type DeletionDependencies } from './datasource-deletion.ts'
import type { DatasourceLogStore, LogFilter } from './datasource-log-store.ts'
import { absent, maxDatasources, requireOrdinary, targetOf } from './datasource-rules.ts'
import {
  createDatasourceStore,
  type DatasourceFilter,
  type Queries,
  type StoredDatasource,
  type Viewer,
} from './datasource-store.ts'
import type { ImportLogStore } from './imports/import-log-store.ts'
import { toDatasource } from './present-datasource.ts'
import type { WorkerSettings } from './refreshes/worker-settings.ts'
import { createWorkerStore } from './refreshes/worker-store.ts'

/**
 * Workflows that read a datasource, by the names that the reader may know; those that are archived left out: all, or
 * those of none of the teams.
 */
export type ListUsesOfDatasource = (
  tx: AllQueries,
  datasource: { readonly companyId: string; readonly datasourceId: string; readonly readerId: string },
  outsideTeams?: readonly string[],
) => Promise<readonly { readonly id: string; readonly name: string }[]>

export interface DatasourceServiceDependencies extends Omit<DeletionDependencies, 'requireUnused' | 'read'> {
  /** Those of the ids that are teams of the company. */
  readonly listTeams: (companyId: string, ids: readonly string[]) => Promise<string[]>
  readonly datasourceLog: DatasourceLogStore
  readonly importLog: ImportLogStore
  readonly settings: WorkerSettings
  readonly listUsesOfDatasource: ListUsesOfDatasource
  /** Waits for one of the company's places to ask the engine, and gives the function that leaves it. */
  readonly enter: (companyId: string) => Promise<() => void>
}

function failuresOf(given: readonly string[] = []) {
  const teamIds = [...given]
  return { datasource_teams_company_id_team_id_fkey: ['unknownTeam', { teamIds }] } as const
}

/** Creates a tracking datasource inside the caller's transaction: for the first start and the operator. */
export async function insertDatasource(
  queries: Queries,
  datasource: { companyId: string; name: string; teamIds: readonly string[] },
): Promise<{ id: string }> {
  const id = newId()
  await createDatasourceStore(queries).insert({ ...datasource, id })
  return { id }
}

export type DatasourceService = ReturnType<typeof createDatasourceService>

/** Datasources as users see them, with the counts of their events. */
export function createDatasourceService(dependencies: DatasourceServiceDependencies) {
  const { relational, recordAudit, listTeams, datasourceLog, importLog, settings, removeContent, enter } =
    dependencies
  const { listUsesOfDatasource } = dependencies
  const store = createDatasourceStore(relational.db)

  async function get(viewer: Viewer, id: string): Promise<StoredDatasource> {
    const found = await store.find(viewer, normalizeId(id))
    if (!found) throw absent(id)
    return found
  }

  /** As it is after a change. */
  async function read(viewer: Viewer, id: string): Promise<Datasource> {
    const found = await get(viewer, id)
    const states = await createWorkerStore(relational.db).listStates(viewer.companyId, [found.id])
    return toDatasource(found, states.get(found.id), 'whole')
  }

  /** Teams that may be given a datasource: of the company, and of the user unless they have it already. */
  async function requireNamedTeams(
    viewer: Viewer,
    wanted: readonly string[],
    present: readonly string[] = [],
  ): Promise<string[]> {
    const ids = [...new Set(wanted.map(normalizeId))]
    const known = new Set(await listTeams(viewer.companyId, ids))
    const unknown = ids.filter((id) => !known.has(id))
    if (unknown.length > 0) throw new DomainError('unknownTeam', { teamIds: unknown })
    const foreign = ids.filter((id) => !viewer.teamIds.includes(id) && !present.includes(id))
    if (foreign.length > 0) throw new DomainError('notInTeam', { teamIds: foreign })
    return ids
  }

  /** All teams of the user when none is named. A team of another company is unknown here. */
  async function requireTeams(viewer: Viewer, wanted: readonly string[] | undefined): Promise<string[]> {
    if (wanted !== undefined) return requireNamedTeams(viewer, wanted)
    if (viewer.teamIds.length > 0) return [...viewer.teamIds]
    throw invalid('resourceGroupIds', 'is required: you are a member of no team')
  }

  /** Changes a datasource that is locked meanwhile, in one transaction with what the audit log says of it. */
  async function change(
    { principal }: Caller,
    id: string,
    work: (tx: AllQueries, locked: StoredDatasource) => Promise<void>,
  ): Promise<Datasource> {
    await relational.transaction(async (tx) => {
      const locked = await createDatasourceStore(tx).lock(principal, normalizeId(id))
      if (!locked) throw absent(id)
      await work(tx, locked)
    })
    return read(principal, id)
  }

  /** @throws DomainError `datasourceInUse` */
  async function requireUnused(
    tx: AllQueries,
    { userId: readerId }: Principal,
    { companyId, id }: StoredDatasource,
    message: string,
    outsideTeams?: readonly string[],
  ): Promise<void> {
    const uses = await listUsesOfDatasource(tx, { companyId, datasourceId: id, readerId }, outsideTeams)
    if (uses.length === 0) return
    const names = [...new Set(uses.map(({ name }) => `"${name}"`))]
    throw new DomainError(
      'datasourceInUse',
      { id, workflows: uses.map((use) => ({ id: use.id, name: use.name })) },
      { message: `${message}: ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}` },
    )
  }

  /**
   * What was read may be sent back, and nothing else: a change that is not made must not look like one.
   * @throws DomainError `invalidDatasource`
   */
  function requireSameKind(present: Datasource, wanted: DatasourceUpdate): void {
    const errors: { path: string; message: string }[] = (['mode', 'type'] as const).flatMap((path) =>
      wanted[path] === undefined || wanted[path] === present[path]
        ? []
        : [{ path, message: `stays ${present[path]}: create another datasource instead` }],
    )
    if (wanted.consent !== undefined && present.consent === undefined)
      errors.push({
        path: 'consent',
        message: `is of tracking datasources: this one has type ${present.type}`,
      })
    const [first] = errors
    if (first)
      throw new DomainError('invalidDatasource', { errors }, { message: `${first.path} ${first.message}` })
  }

  /**
   * Events that are kept for fewer days are deleted as those of a deleted datasource are.
   * @throws DomainError `notAnEventDatasource` or `forbidden`
   */
  function requireRetention(
    principal: Principal,
    { id, mode, eventRetentionDays: present }: Datasource,
    wanted: number | null | undefined,
  ): void {
    if (wanted === undefined || wanted === (present ?? null)) return
    if (mode === 'worker') throw new DomainError('notAnEventDatasource', { id })
    if (!principal.can('datasource', 'delete'))
      throw new DomainError('forbidden', { resource: 'datasource', action: 'delete' })
  }

  return {
    async list(viewer: Viewer, filter: DatasourceFilter, page: Page): Promise<Listed<Datasource>> {
      const { resourceGroupId } = filter
      const wanted = { ...filter, resourceGroupId: resourceGroupId && normalizeId(resourceGroupId) }
      const { rows, count } = await store.list(viewer, wanted, page)
      const workers = rows.filter(({ kind }) => kind === 'worker').map(({ id }) => id)
      const states = await createWorkerStore(relational.db).listStates(viewer.companyId, workers)
      return { rows: rows.map((row) => toDatasource(row, states.get(row.id), 'list')), count }
    },

    /** @throws DomainError `datasourceNotFound` */
    read,

    /**
     * @throws DomainError `validation`, `unknownTeam`, `notInTeam`, `invalidDatasource` or `tooManyDatasources`
     */
    async create(caller: Caller, wanted: DatasourceCreation): Promise<Datasource> {
      const { principal } = caller
      const { companyId } = principal
      const { name, mode = 'ingester' } = wanted
      const planned = await settings.forCreation(companyId, wanted)
      const teamIds = await requireTeams(principal, wanted.resourceGroupIds)
      const id = newId()
      const insert = async (tx: AllQueries): Promise<void> => {
        const within = createDatasourceStore(tx)
        requireRoom('tooManyDatasources', maxDatasources, await within.countOfCompany(companyId))
        await within.insert({ id, companyId, name, kind: mode === 'worker' ? 'worker' : 'tracking', teamIds })
        if (mode === 'worker') {
          await createWorkerStore(tx).insert({
            datasourceId: id,
            companyId,
            createdBy: principal.userId,
            ...planned(id),
          })
        }
        await recordAudit(
          tx,
          auditEventOf(caller, 'datasource-create', targetOf({ id, name }), { mode, teamIds }),
        )
      }
      await refusing(failuresOf(teamIds), () => relational.transaction(insert))
      return read(principal, id)
    },

    /**
     * @throws DomainError `datasourceNotFound`, `unknownTeam`, `notInTeam`, `notAWorkerDatasource`,
     *   `notAnEventDatasource`, `forbidden` (retention), `invalidDatasource`, or `datasourceInUse` where a published workflow would read what none of its teams has
     */
    async update(caller: Caller, id: string, wanted: DatasourceUpdate): Promise<Datasource> {
      const { principal } = caller
      const { companyId } = principal
      const { name, resourceGroupIds } = wanted
      const present = await read(principal, id)
      requireSameKind(present, wanted)
      const teamIds =
        resourceGroupIds && (await requireNamedTeams(principal, resourceGroupIds, present.resourceGroupIds))
      const isOfWorkers = settings.isNamed(wanted)
      if (isOfWorkers && present.mode !== 'worker')
        throw new DomainError('notAWorkerDatasource', { id: present.id })
      const { eventRetentionDays, consent } = wanted
      requireRetention(principal, present, eventRetentionDays)
      const planned = isOfWorkers ? await settings.forUpdate(companyId, wanted, present) : undefined
      let formerContent: string | undefined
      const work = async (tx: AllQueries, locked: StoredDatasource): Promise<void> => {
        const within = createDatasourceStore(tx)
        if (teamIds) {
          await requireUnused(
            tx,
            principal,
            locked,
            'Published workflows of other teams use this datasource',
            teamIds,
          )
          await within.replaceTeams(companyId, locked.id, teamIds)
        }
        if (planned) {
          const workers = createWorkerStore(tx)
          const worker = await workers.lock(companyId, locked.id)
          if (!worker) throw absent(id)
          const next = planned(worker)
          // A file belongs to a source of files.
          if (next.content === null) formerContent = worker.content?.file
          await workers.update(companyId, locked.id, next)
        }
        await within.update(companyId, locked.id, { name, eventRetentionDays, consent })
        const {
          changed: fields,
          from,
          to,
        } = changesOf(
          {
            name: locked.name,
            teamIds: locked.teamIds as readonly string[],
            eventRetentionDays: locked.eventRetentionDays,
            consent: locked.consent,
          },
          { name, teamIds, eventRetentionDays, consent },
        )
        const further = settings.namesOf(wanted)
        await recordAudit(
          tx,
          auditEventOf(caller, 'datasource-update', targetOf(locked), {
            changed: [...fields, ...further],
            from,
            to,
          }),
        )
      }
      const changed = await refusing(failuresOf(teamIds), () => change(caller, id, work))
      if (formerContent !== undefined) await removeContent(formerContent).catch(() => {})
      return changed
    },

    ...createDatasourceDeletion({ ...dependencies, requireUnused, read }),

    /** @throws DomainError `datasourceNotFound` or `conflict` */
    async pause(caller: Caller, id: string): Promise<Datasource> {
      return change(caller, id, async (tx, locked) => {
        requireOrdinary(locked)
        if (locked.status === 'paused') return
        await createDatasourceStore(tx).update(locked.companyId, locked.id, { status: 'paused' })
        await recordAudit(tx, auditEventOf(caller, 'datasource-pause', targetOf(locked)))
      })
    },

    /** @throws DomainError `datasourceNotFound` */
    async resume(caller: Caller, id: string): Promise<Datasource> {
      return change(caller, id, async (tx, locked) => {
        if (locked.status === 'active') return
        await createDatasourceStore(tx).update(locked.companyId, locked.id, { status: 'active' })
        const workers = createWorkerStore(tx)
        const worker = await workers.lock(locked.companyId, locked.id)
        if (worker) await workers.update(locked.companyId, locked.id, await settings.forResume(worker))
        await recordAudit(tx, auditEventOf(caller, 'datasource-resume', targetOf(locked)))
      })
    },

    /** @throws DomainError `datasourceNotFound` or `tooManyRequests` */
    async listLogs(
      viewer: Viewer,
      id: string,
      filter: LogFilter,
      page: Page,
    ): Promise<Listed<DatasourceLogEntry>> {
      const datasource = await get(viewer, id)
      if (datasource.kind === 'worker')
        return importLog.list(viewer.companyId, datasource.id, filter, rangeOf(page))
      const leave = await enter(viewer.companyId)
      try {
        const [rows, count] = await Promise.all([
          datasourceLog.list(viewer.companyId, datasource.id, filter, rangeOf(page)),
          datasourceLog.count(viewer.companyId, datasource.id, filter),
        ])
        return { rows, count }
      } finally {
        leave()
      }
    },

    /** @throws DomainError `datasourceNotFound` */
    async readCounters(viewer: Viewer, id: string): Promise<DatasourceCounters> {
      const datasource = await get(viewer, id)
      const counted = await store.findCounters(datasource.id)
      const { accepted = 0, changed = 0, dropped = 0, bot = 0, duplicate = 0 } = counted ?? {}
      return {
        datasourceId: datasource.id,
        sent: accepted + dropped + bot + duplicate,
        accepted,
        changed,
        dropped,
        bot,
        duplicate,
        updatedAt: counted?.updatedAt.toISOString() ?? null,
      }
    },
  }
}
