import { join } from 'node:path'
import { insertExport } from './exports.ts'
import { only, type PermissionRow, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld, Person } from './permission-world.ts'

const address = '/v2/statistics/exports'
const body = { table: 'events', from: '2026-03-01', until: '2026-03-01' }

const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }

const made = async ({ relational, service, admin }: PermissionWorld, by: Person = admin): Promise<string> =>
  `${address}/${await insertExport(relational, join(service.dataDirectory, 'exports'), by)}`

const rowOf = (suffix: string): PermissionRow => ({
  needs: 'statistics access',
  call: async (world) => ({ path: `${await made(world)}${suffix}` }),
  alone: 403,
  stranger: 404,
  further: [
    {
      says: 'is its user’s own',
      rights: only('statistics access', 'statistics export'),
      call: async (world) => ({ path: `${await made(world)}${suffix}` }),
      refusal: 'exportNotFound',
    },
    {
      says: 'is seen with Statistics: manage',
      rights: only('statistics access', 'statistics export', 'statistics manage', 'team update'),
      call: async (world) => ({ path: `${await made(world)}${suffix}` }),
    },
  ],
})

export const exportRows: PermissionRows = {
  createExport: {
    needs: 'statistics access',
    call: () => ({ path: address, body }),
    alone: 403,
    stranger: 200,
    further: [
      {
        says: 'takes nothing out of other teams',
        rights: only('statistics access', 'statistics export'),
        call: () => ({ path: address, body }),
        refusal: 'forbidden',
      },
      {
        says: 'takes sight of all teams',
        rights: only('statistics access', 'statistics export', 'team update'),
        call: () => ({ path: address, body }),
      },
      {
        says: 'takes no sight of others for a query, which its user may ask',
        rights: only('statistics access', 'statistics export'),
        call: () => ({ path: address, body: { table: 'query', query } }),
      },
    ],
  },
  listExports: {
    needs: 'statistics access',
    call: () => ({ path: address }),
    alone: 403,
    stranger: 200,
    further: [
      {
        says: 'takes Statistics: export besides',
        rights: only('statistics access', 'statistics export'),
        call: () => ({ path: address }),
      },
    ],
  },
  readExport: rowOf(''),
  downloadExportFile: rowOf('/files/2026-03-01.parquet'),
  deleteExport: rowOf(''),
}
