import { newId } from '../../src/platform/ids.ts'
import { datasourcesPath, makeWorker, sampleDataPath } from './permission-rows-datasources.ts'
import type { Call, PermissionWorld, Person } from './permission-world.ts'
import { nobody, type RefusalRows, refused } from './refusal-row.ts'

const at = (id: string, suffix = '') => `${datasourcesPath}/${id}${suffix}`

const tracking = async ({ make }: PermissionWorld, { token }: Person): Promise<string> =>
  (await make<{ id: string }>('POST', datasourcesPath, { name: 'Shop' }, token)).id

const empty = async ({ make }: PermissionWorld, { token }: Person, source?: object): Promise<string> =>
  (
    await make<{ id: string }>(
      'POST',
      datasourcesPath,
      { name: 'Rows', mode: 'worker', ...(source && { source }) },
      token,
    )
  ).id

const ofTracking = (suffix: string, body?: unknown) =>
  refused(async (founder, world) => ({
    path: at(await tracking(world, founder), suffix),
    ...(body ? { body } : {}),
  }))

async function fill({ companyId }: Person, { relational }: PermissionWorld): Promise<void> {
  await relational.pool.query(
    `insert into datasources (id, company_id, name)
     select substr(md5($2::text || n), 1, 24), $1, 'x' from generate_series(1, 1000) n`,
    [companyId, newId()],
  )
}

const full = (call: Call) =>
  refused(async (founder, world) => {
    await fill(founder, world)
    return call
  })

/** Datasources. */
export const datasourceRefusals: RefusalRows = {
  createDatasource: {
    unknownTeam: refused(() => ({
      path: datasourcesPath,
      body: { name: 'Shop', resourceGroupIds: [nobody] },
    })),
    invalidDatasource: refused(() => ({
      path: datasourcesPath,
      body: { name: 'Shop', schedule: { everyMinutes: 60 } },
    })),
    tooManyDatasources: full({ path: datasourcesPath, body: { name: 'One more' } }),
  },
  createSampleData: {
    datasourceNotFound: 'test/interface/ext-sample-data.test.ts',
    tooManyDatasources: full({ path: sampleDataPath }),
    collectorOverloaded: 'test/interface/19-collect.test.ts',
    eventsNotDurable: 'test/interface/ext-sample-data.test.ts',
  },
  deleteSampleData: { datasourceInUse: 'test/interface/ext-sample-data.test.ts' },
  findPerson: {
    personTooLarge: 'test/interface/ext-persons.test.ts',
    tooManyRequests: 'test/interface/ext-persons.test.ts',
  },
  exportPerson: {
    personTooLarge: 'test/interface/ext-persons.test.ts',
    tooManyRequests: 'test/interface/ext-persons.test.ts',
  },
  erasePerson: {
    personTooLarge: 'test/interface/ext-persons.test.ts',
    personsNotConfirmed: 'test/interface/ext-persons.test.ts',
    tooManyRequests: 'test/interface/ext-persons.test.ts',
    tooManyErasures: refused(async ({ companyId, userId }, { relational }) => {
      await relational.pool.query(
        `insert into person_erasures (id, company_id, requested_by, sealed_reference, refuse_until)
         select substr(md5($2::text || n), 1, 24), $1, $3, 'x', now() from generate_series(1, 1000) n`,
        [companyId, newId(), userId],
      )
      return { path: '/v2/entities/persons/erase', body: { clientIds: ['ada'] } }
    }),
  },
  updateDatasource: {
    unknownTeam: ofTracking('', { resourceGroupIds: [nobody] }),
    notAWorkerDatasource: ofTracking('', { maxRefusedShare: 0.1 }),
    invalidDatasource: refused(async (founder, world) => ({
      path: at(await empty(world, founder)),
      body: { source: { type: 'url' } },
    })),
    notAnEventDatasource: refused(async (founder, world) => ({
      path: at(await empty(world, founder)),
      body: { eventRetentionDays: 30 },
    })),
    datasourceInUse: 'ext-workflow-uses: stays with the teams of a published workflow that reads it',
  },
  deleteDatasource: {
    datasourceNotConfirmed: ofTracking('?purge=now&confirm=another'),
    datasourceInUse: 'test/interface/ext-datasources-worker.test.ts',
    conflict: 'test/interface/10-create-workflow.test.ts',
  },
  restoreDatasource: {
    tooManyDatasources: refused(async (founder, world) => {
      const id = await tracking(world, founder)
      await world.make('DELETE', at(id), undefined, founder.token)
      await fill(founder, world)
      return { path: at(id, '/restore') }
    }),
  },
  pauseDatasource: {
    conflict: 'test/interface/10-create-workflow.test.ts',
  },
  uploadContent: {
    notAWorkerDatasource: ofTracking('/content', [1]),
    sourceIsAnAddress: refused(async (founder, world) => ({
      path: at(await empty(world, founder, { type: 'url', url: 'https://shop.example/a.csv' }), '/content'),
      body: [1],
    })),
    contentTooLarge: 'src/features/datasources/contents/content-files.test.ts',
    emptyContent: refused(async (founder, world) => ({ path: at(await empty(world, founder), '/content') })),
    contentNotStored: 'test/interface/ext-datasources-worker.test.ts',
    storageFull: 'test/interface/faults-storage.test.ts',
    tooManyRequests: 'test/interface/ext-datasources-worker.test.ts',
  },
  updateFields: {
    notAWorkerDatasource: ofTracking('/fields', { fields: [] }),
    invalidFields: refused(async (founder, world) => ({
      path: at(await makeWorker(world, founder), '/fields'),
      body: { changes: [{ name: 'sku', rename: 'Not A Name' }] },
    })),
  },
  publishDatasource: {
    notAWorkerDatasource: ofTracking('/versions/live'),
    datasourcePaused: refused(async (founder, world) => {
      const id = await makeWorker(world, founder)
      await world.make('POST', at(id, '/pause'), undefined, founder.token)
      return { path: at(id, '/versions/live') }
    }),
    datasourceWithoutSource: refused(async (founder, world) => ({
      path: at(await empty(world, founder), '/versions/live'),
    })),
    datasourceWithoutContent: refused(async (founder, world) => ({
      path: at(await empty(world, founder, { type: 'file' }), '/versions/live'),
    })),
    datasourceWithoutFields: refused(async (founder, world) => {
      const id = await makeWorker(world, founder)
      await world.make('PATCH', at(id, '/fields'), { fields: [] }, founder.token)
      return { path: at(id, '/versions/live') }
    }),
    invalidFields: refused(async (founder, world) => {
      const id = await makeWorker(world, founder)
      await world.make('PATCH', at(id), { updateStrategy: 'upsert' }, founder.token)
      return { path: at(id, '/versions/live') }
    }),
    datasourceImports: refused(async (founder, world) => {
      const id = await makeWorker(world, founder)
      await world.relational.pool.query(
        `insert into datasource_imports (id, company_id, datasource_id, trigger, due_at)
         values ($1, $2, $3, 'live', now() + interval '1 day')`,
        [newId(), founder.companyId, id],
      )
      return { path: at(id, '/versions/live') }
    }),
  },
}
