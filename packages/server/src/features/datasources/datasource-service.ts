import type { Datasource } from '@millrace/contract/resources/datasource.ts'
import type { DatasourceCounters } from '@millrace/contract/resources/datasource-counters.ts'
import type { DatasourceLogEntry } from '@millrace/contract/resources/datasource-log.ts'
import { DomainError } from '../../platform/errors.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import { type Listed, type Page, rangeOf } from '../../platform/paging.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import type { DatasourceLogStore, LogFilter } from './datasource-log-store.ts'
import {
  createDatasourceStore,
  type Queries,
  type StoredDatasource,
  type Viewer,
} from './datasource-store.ts'

export interface DatasourceServiceDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  /** Those of the ids that are teams of the company. */
  readonly listTeams: (companyId: string, ids: readonly string[]) => Promise<string[]>
  readonly log: DatasourceLogStore
  /** Waits for one of the company's places to ask the engine, and gives the function that leaves it. */
  readonly enter: (companyId: string) => Promise<() => void>
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
export function createDatasourceService({
  relational,
  listTeams,
  log,
  enter,
}: DatasourceServiceDependencies) {
  const store = createDatasourceStore(relational.db)

  async function get(viewer: Viewer, id: string): Promise<StoredDatasource> {
    const found = await store.find(viewer, normalizeId(id))
    if (!found) throw new DomainError('datasourceNotFound', { id: normalizeId(id) })
    return found
  }

  /** All teams of the user when none is named. A team of another company is unknown here. */
  async function requireTeams(viewer: Viewer, wanted: readonly string[] | undefined): Promise<string[]> {
    if (wanted === undefined) {
      if (viewer.teamIds.length > 0) return [...viewer.teamIds]
      throw invalid('resourceGroupIds', 'is required: you are a member of no team')
    }
    const ids = [...new Set(wanted.map(normalizeId))]
    const known = new Set(await listTeams(viewer.companyId, ids))
    const unknown = ids.filter((id) => !known.has(id))
    if (unknown.length > 0) throw new DomainError('unknownTeam', { teamIds: unknown })
    const foreign = ids.filter((id) => !viewer.teamIds.includes(id))
    if (foreign.length > 0) throw new DomainError('notInTeam', { teamIds: foreign })
    return ids
  }

  return {
    async list(viewer: Viewer, page: Page): Promise<Listed<Datasource>> {
      const [rows, count] = await Promise.all([store.list(viewer, rangeOf(page)), store.count(viewer)])
      return { rows: rows.map(toDatasource), count }
    },

    /** @throws DomainError `validation`, `unknownTeam` or `notInTeam` */
    async create(
      viewer: Viewer,
      wanted: { name: string; teamIds: readonly string[] | undefined },
    ): Promise<Datasource> {
      const teamIds = await requireTeams(viewer, wanted.teamIds)
      const id = newId()
      const { companyId } = viewer
      await relational.transaction((tx) =>
        createDatasourceStore(tx).insert({ id, companyId, name: wanted.name, teamIds }),
      )
      return toDatasource(await get(viewer, id))
    },

    /** @throws DomainError `datasourceNotFound` or `tooManyRequests` */
    async listLogs(
      viewer: Viewer,
      id: string,
      filter: LogFilter,
      page: Page,
    ): Promise<Listed<DatasourceLogEntry>> {
      const datasource = await get(viewer, id)
      const leave = await enter(viewer.companyId)
      try {
        const [rows, count] = await Promise.all([
          log.list(viewer.companyId, datasource.id, filter, rangeOf(page)),
          log.count(viewer.companyId, datasource.id, filter),
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

const statuses = { active: 'published', paused: 'paused', deleted: 'paused' } as const

function toDatasource(stored: StoredDatasource): Datasource {
  return {
    id: stored.id,
    companyId: stored.companyId,
    name: stored.name,
    mode: 'ingester',
    type: 'analytics',
    status: statuses[stored.status],
    resourceGroupIds: [...stored.teamIds],
    createdAt: stored.createdAt.toISOString(),
    updatedAt: stored.updatedAt.toISOString(),
  }
}
