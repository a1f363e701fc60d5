import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { createExpiry } from '../../src/features/events/loading/removals/expiry.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { type AuditWorld, type Deed, fresh, type Made } from './audit-world.ts'

const datasources = '/datasources'

/** What an administrator does to a worker datasource with one field and content, all of it made before. */
const ofWorker =
  (act: (world: AuditWorld, path: string) => Promise<unknown>): Deed =>
  async (world) => {
    const { people, ask, begin } = world
    const body = {
      name: fresh('Products '),
      mode: 'worker',
      source: { type: 'url', url: 'https://shop.example/a.csv' },
    }
    const { id } = await ask<Made>(people, 'POST', datasources, body)
    const path = `${datasources}/${id}`
    const field = {
      name: 'sku',
      type: 'reference_id',
      primitive: 'string',
      selected: true,
      rulesPerSources: { '0': [{ name: 'path', params: { value: 'sku' } }] },
    }
    await ask(people, 'PATCH', `${path}/fields`, { fields: [field] })
    await begin(people)
    await act(world, path)
    return { actor: ['user', people.admin.id], target: ['datasource', id] }
  }

/** What is done to datasources. */
export const datasourceDeeds = {
  'datasource-create': async ({ people, ask, begin }) => {
    await begin(people)
    const { id } = await ask<Made>(people, 'POST', datasources, { name: fresh('Shop ') })
    return { actor: ['user', people.admin.id], target: ['datasource', id] }
  },
  'datasource-update': ofWorker(({ people, ask }, path) => ask(people, 'PATCH', path, { name: 'Catalogue' })),
  'datasource-content': ofWorker(async ({ people, ask, begin }, path) => {
    await ask(people, 'PATCH', path, { source: { type: 'file' } })
    await begin(people)
    const { statusCode, body } = await people.auth.app.inject({
      method: 'PUT',
      url: `/v2${path}/content`,
      headers: { authorization: `Bearer ${people.admin.token}`, 'content-type': 'application/octet-stream' },
      body: Buffer.from('sku\nA1\n'),
    })
    if (statusCode !== 200) throw new Error(body)
  }),
  'datasource-publish': ofWorker(({ people, ask }, path) => ask(people, 'POST', `${path}/versions/live`)),
  'datasource-pause': ofWorker(({ people, ask }, path) => ask(people, 'POST', `${path}/pause`)),
  'datasource-resume': ofWorker(async ({ people, ask, begin }, path) => {
    await ask(people, 'POST', `${path}/pause`)
    await begin(people)
    await ask(people, 'POST', `${path}/resume`)
  }),
  'datasource-expire': async ({ people, ask, begin }) => {
    const { id: datasource } = await ask<Made>(people, 'POST', datasources, { name: fresh('Shop ') })
    await begin(people)
    const expiry = createExpiry({
      listDue: async () => [
        { companyIds: [people.companyId], datasourceIds: [datasource], before: new Date(0) },
      ],
      store: {
        countEvents: async () => [{ company: people.companyId, datasource, events: 3 }],
        monthsOf: async () => [],
        recomputeOrders: async () => {},
        dropWhole: async () => 0,
        remove: async () => 0,
      },
      record: (events) => recordAudit(people.auth.context.parts.relational.db, events),
      clock: systemClock,
      logger: silentLogger,
    })
    const hooks = {
      betweenBatches: <T>(work: () => Promise<T>) => work(),
      loaded: async () => {},
      onRemoved: () => {},
    }
    await expiry.run(hooks, new AbortController().signal)
    return { actor: ['platform', null], target: ['datasource', datasource], isUnaddressed: true }
  },
  'datasource-restore': async ({ people, ask, begin }) => {
    const { id } = await ask<Made>(people, 'POST', '/datasources', { name: fresh('Website ') })
    await ask(people, 'DELETE', `/datasources/${id}`)
    await begin(people)
    await ask(people, 'POST', `/datasources/${id}/restore`)
    return { actor: ['user', people.admin.id], target: ['datasource', id] }
  },
  'datasource-delete': ofWorker(({ people, ask }, path) => ask(people, 'DELETE', path)),
} satisfies Partial<Record<AuditAction, Deed>>
