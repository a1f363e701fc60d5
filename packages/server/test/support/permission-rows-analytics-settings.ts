import type { TagKey } from '@millrace/contract/resources/tag-key.ts'
import type { PermissionRows } from './permission-row.ts'
import type { PermissionWorld } from './permission-world.ts'

const settings = '/v2/statistics/analytics/settings'
const tags = `${settings}/tags`
const aliases = `${settings}/event-aliases`

const unusedName = () => `name ${crypto.randomUUID()}`

/** A tag key of the first company with one value. @returns its address, and that of the value */
async function addKey({ make }: PermissionWorld): Promise<{ key: string; value: string }> {
  const definition = { name: unusedName(), values: [{ name: 'Spring' }] }
  const made = await make<TagKey>('POST', tags, { definition })
  const key = `${tags}/${made.id}`
  return { key, value: `${key}/values/${made.definition.values[0]?._id}` }
}

/** What lives below the settings of statistics. */
export const analyticsSettingsRows: PermissionRows = {
  readAnalyticsSettings: { needs: 'statistics access', call: () => ({ path: settings }), stranger: 200 },

  updateAnalyticsSettings: {
    needs: 'company update',
    call: () => ({ path: settings, body: { exactCounts: true } }),
    stranger: 200,
  },

  listEventAliases: { needs: 'statistics access', call: () => ({ path: aliases }), stranger: 200 },

  setEventAlias: {
    needs: 'company update',
    call: () => ({ path: `${aliases}/sign_up`, body: { alias: 'registration' } }),
    makesNamed: true,
    stranger: 200,
  },

  deleteEventAlias: {
    needs: 'company update',
    call: async ({ make }) => {
      const path = `${aliases}/${crypto.randomUUID()}`
      await make('PUT', path, { alias: 'registration' })
      return { path }
    },
    stranger: 404,
  },

  listTagKeys: { needs: 'workflowSettings read', call: () => ({ path: tags }), stranger: 200 },

  readTagKey: {
    needs: 'workflowSettings read',
    call: async (world) => ({ path: (await addKey(world)).key }),
    stranger: 404,
  },

  createTagKey: {
    needs: 'workflowSettings create',
    call: () => ({ path: tags, body: { definition: { name: unusedName() } } }),
    stranger: 200,
  },

  updateTagKey: {
    needs: 'workflowSettings update',
    call: async (world) => ({ path: (await addKey(world)).key, body: { definition: { description: 'x' } } }),
    stranger: 404,
  },

  deleteTagKey: {
    needs: 'workflowSettings delete',
    call: async (world) => ({ path: (await addKey(world)).key }),
    stranger: 404,
  },

  createTagValue: {
    needs: 'workflowSettings update',
    call: async (world) => ({ path: `${(await addKey(world)).key}/values`, body: { name: 'Summer' } }),
    stranger: 404,
  },

  updateTagValue: {
    needs: 'workflowSettings update',
    call: async (world) => ({ path: (await addKey(world)).value, body: { name: 'Summer' } }),
    stranger: 404,
  },

  deleteTagValue: {
    needs: 'workflowSettings delete',
    call: async (world) => ({ path: (await addKey(world)).value }),
    stranger: 404,
  },
}
