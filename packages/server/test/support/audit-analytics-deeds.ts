import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import type { TagKey } from '@millrace/contract/resources/tag-key.ts'
import { type AuditWorld, type Deed, fresh, type Made, type Told } from './audit-world.ts'

const settings = '/statistics/analytics/settings'
const tags = `${settings}/tags`
const aliases = `${settings}/event-aliases`
const reports = '/statistics/reports'
const dashboards = '/statistics/dashboards'

const createReport = async ({ people, ask }: AuditWorld): Promise<string> =>
  (await ask<{ id: string }>(people, 'POST', reports, { guidedAnalysis: 'revenue' })).id

/** A tag key with one value. @returns the addresses of both, and their identifiers */
async function addKey({ people, ask }: AuditWorld) {
  const definition = { name: fresh('Season '), values: [{ name: 'Spring' }] }
  const { id, ...made } = await ask<TagKey>(people, 'POST', tags, { definition })
  const valueId = made.definition.values[0]?._id ?? ''
  return { id, valueId, key: `${tags}/${id}`, value: `${tags}/${id}/values/${valueId}` }
}

const done = ({ people }: AuditWorld, kind: string, id: string): Told => ({
  actor: ['user', people.admin.id],
  target: [kind, id],
})

/** The deed to a dashboard that is there. */
const toDashboard =
  (method: 'PUT' | 'DELETE', body?: () => Record<string, unknown>): Deed =>
  async (world) => {
    const { people, ask, begin } = world
    const { id } = await ask<Made>(people, 'POST', dashboards, { name: fresh('Sales '), tiles: [] })
    await begin(people)
    await ask(people, method, `${dashboards}/${id}`, body?.())
    return done(world, 'dashboard', id)
  }

/** What is changed below the settings of statistics. */
export const analyticsDeeds = {
  'statistics-settings-update': async ({ people, ask, begin }) => {
    await begin(people)
    await ask(people, 'PATCH', settings, { attribution: { model: 'linear' } })
    return { actor: ['user', people.admin.id], target: ['company', people.companyId] }
  },
  'event-alias-set': async ({ people, ask, begin }) => {
    const name = fresh('sign up ')
    await begin(people)
    await ask(people, 'PUT', `${aliases}/${name}`, { alias: 'registration' })
    return { actor: ['user', people.admin.id], target: ['event', null, name] }
  },
  'event-alias-delete': async ({ people, ask, begin }) => {
    const name = fresh('sign up ')
    await ask(people, 'PUT', `${aliases}/${name}`, { alias: 'registration' })
    await begin(people)
    await ask(people, 'DELETE', `${aliases}/${name}`)
    return { actor: ['user', people.admin.id], target: ['event', null, name] }
  },
  'tag-key-create': async (world) => {
    await world.begin(world.people)
    return done(world, 'tag-key', (await addKey(world)).id)
  },
  'tag-key-update': async (world) => {
    const { id, key } = await addKey(world)
    await world.begin(world.people)
    await world.ask(world.people, 'PATCH', key, { definition: { cardinality: 'multiple' } })
    return done(world, 'tag-key', id)
  },
  'tag-key-delete': async (world) => {
    const { id, key } = await addKey(world)
    await world.begin(world.people)
    await world.ask(world.people, 'DELETE', key)
    return done(world, 'tag-key', id)
  },
  'tag-value-create': async (world) => {
    const { key } = await addKey(world)
    await world.begin(world.people)
    const made = await world.ask<TagKey>(world.people, 'POST', `${key}/values`, { name: 'Summer' })
    return done(world, 'tag-value', made.definition.values[1]?._id ?? '')
  },
  'tag-value-update': async (world) => {
    const { valueId, value } = await addKey(world)
    await world.begin(world.people)
    await world.ask(world.people, 'PATCH', value, { name: 'Summer' })
    return done(world, 'tag-value', valueId)
  },
  'tag-value-delete': async (world) => {
    const { valueId, value } = await addKey(world)
    await world.begin(world.people)
    await world.ask(world.people, 'DELETE', value)
    return done(world, 'tag-value', valueId)
  },
  'dashboard-create': async (world) => {
    const { people, ask, begin } = world
    await begin(people)
    const { id } = await ask<Made>(people, 'POST', dashboards, { name: fresh('Sales '), tiles: [] })
    return done(world, 'dashboard', id)
  },
  'dashboard-update': toDashboard('PUT', () => ({ name: fresh('Orders '), tiles: [] })),
  'dashboard-delete': toDashboard('DELETE'),
  'dashboard-duplicate': async (world) => {
    const { people, ask, begin } = world
    const { id } = await ask<Made>(people, 'POST', dashboards, { name: fresh('Sales '), tiles: [] })
    await begin(people)
    const copy = await ask<Made>(people, 'POST', `${dashboards}/${id}/duplicate`)
    return done(world, 'dashboard', copy.id)
  },
  'report-create': async (world) => {
    await world.begin(world.people)
    return done(world, 'report', await createReport(world))
  },
  'report-archive': async (world) => {
    const id = await createReport(world)
    await world.begin(world.people)
    await world.ask(world.people, 'POST', `${reports}/${id}/archive`)
    return done(world, 'report', id)
  },
  'report-settings-update': async ({ people, ask, begin }) => {
    await begin(people)
    await ask(people, 'PATCH', `${reports}/settings`, { analyses: { revenue: { prompt: fresh('why ') } } })
    return { actor: ['user', people.admin.id], target: ['company', people.companyId] }
  },
} satisfies Partial<Record<AuditAction, Deed>>
