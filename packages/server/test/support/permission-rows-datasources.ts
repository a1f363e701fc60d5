import { type MakeCall, only, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { unusedName } from './refusal-row.ts'

export const datasourcesPath = '/v2/datasources'
export const sampleDataPath = '/v2/entities/company/sample-data'

const field = {
  name: 'sku',
  type: 'reference_id',
  primitive: 'string',
  selected: true,
  rulesPerSources: { '0': [{ name: 'path', params: { value: 'sku' } }] },
}

/** A worker datasource with content and fields, in draft. @returns its id */
export async function makeWorker({ make }: PermissionWorld, owner?: Person): Promise<string> {
  const send = <T>(method: string, path: string, body: unknown) => make<T>(method, path, body, owner?.token)
  const { id } = await send<{ id: string }>('POST', datasourcesPath, {
    name: unusedName().slice(0, 50),
    mode: 'worker',
    source: { type: 'file' },
  })
  await send('PUT', `${datasourcesPath}/${id}/content?fileName=a.json`, [{ sku: 'A1' }])
  await send('PATCH', `${datasourcesPath}/${id}/fields`, { fields: [field] })
  return id
}

/** A datasource of events. @returns its id */
const makeTracking = async ({ make }: PermissionWorld, owner?: Person): Promise<string> =>
  (await make<{ id: string }>('POST', datasourcesPath, { name: unusedName().slice(0, 50) }, owner?.token)).id

/** The same as `makeWorker`, and live. */
export async function makeLive(world: PermissionWorld, owner?: Person): Promise<string> {
  const id = await makeWorker(world, owner)
  await world.make('POST', `${datasourcesPath}/${id}/versions/live`, undefined, owner?.token)
  for (;;) {
    const path = `${datasourcesPath}/${id}`
    const { status } = await world.make<{ status: string }>('GET', path, undefined, owner?.token)
    if (status === 'published') return id
    if (status !== 'updating') throw new Error(`the import ended with status ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const of =
  (suffix: string, body?: unknown, make: typeof makeWorker = makeWorker): MakeCall =>
  async (world) => ({
    path: `${datasourcesPath}/${await make(world)}${suffix}`,
    ...(body === undefined ? {} : { body }),
  })

const read = 'datasource read'
const update = 'datasource update'
const hidden = { stranger: 404, otherTeam: 404 } as const

/** One of events that was deleted. @returns its id */
async function makeDeleted(world: PermissionWorld, owner?: Person): Promise<string> {
  const id = await makeTracking(world, owner)
  await world.make('DELETE', `${datasourcesPath}/${id}`, undefined, owner?.token)
  return id
}

/** One datasource, and the rows of worker datasources. */
export const datasourceRows: PermissionRows = {
  readDatasource: { needs: read, call: of(''), ...hidden },
  updateDatasource: {
    needs: update,
    call: of('', { name: 'Catalogue' }),
    ...hidden,
    further: [
      {
        says: 'gives it to no team that the caller is not in',
        rights: only(update),
        call: async (world) => ({
          path: `${datasourcesPath}/${await makeWorker(world)}`,
          body: { resourceGroupIds: [world.teams.default, world.teams.other] },
        }),
        refusal: 'notInTeam',
      },
      {
        says: 'lets nobody delete old events who may not delete a datasource',
        rights: only(update),
        call: of('', { eventRetentionDays: 30 }, makeTracking),
        refusal: 'forbidden',
      },
    ],
  },
  previewDatasourceRetention: {
    needs: read,
    call: of('/retention?days=30', undefined, makeTracking),
    ...hidden,
  },
  deleteDatasource: { needs: 'datasource delete', call: of(''), ...hidden },
  listDeletedDatasources: {
    needs: 'datasource delete',
    call: () => ({ path: `${datasourcesPath}/deleted` }),
    stranger: 200,
  },
  restoreDatasource: { needs: 'datasource delete', call: of('/restore', undefined, makeDeleted), ...hidden },
  pauseDatasource: { needs: update, call: of('/pause'), ...hidden },
  resumeDatasource: { needs: update, call: of('/resume'), ...hidden },
  refreshDatasource: { needs: update, call: of('/refresh', undefined, makeLive), ...hidden },
  uploadContent: { needs: update, call: of('/content', [{ sku: 'B2' }]), ...hidden },
  updateFields: { needs: update, call: of('/fields', { fields: [field] }), ...hidden },
  publishDatasource: { needs: update, call: of('/versions/live'), ...hidden },
  watchDatasource: { needs: read, call: of('/activity'), ...hidden },
  // For the company of the caller, whichever teams see it.
  createSampleData: { needs: 'company update', call: () => ({ path: sampleDataPath }), stranger: 200 },
  deleteSampleData: { needs: 'company update', call: () => ({ path: sampleDataPath }), stranger: 200 },
  listImports: { needs: read, call: of('/imports'), ...hidden },
  queryDatasource: {
    needs: read,
    call: async (world) => ({
      path: `${datasourcesPath}/query`,
      body: { datasourceId: await makeLive(world) },
    }),
    ...hidden,
  },
  analyzeDatasource: {
    needs: update,
    call: async (world) => ({ path: `${datasourcesPath}/worker/${await makeWorker(world)}/analyzer` }),
    ...hidden,
  },
}
