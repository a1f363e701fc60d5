import { newId } from '../../src/platform/ids.ts'
import {
  type FurtherCase,
  ofOthers,
  only,
  type PermissionRow,
  type PermissionRows,
} from './permission-row.ts'
import type { PermissionWorld, Person } from './permission-world.ts'

const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }
const body = { name: 'Events', queries: [query] }
const address = '/v2/statistics/query'

/** A saved query of the administrator, or of another user of the first company. @returns its address */
async function saved(world: PermissionWorld, by: Person = world.admin): Promise<string> {
  const { id } = await world.make<{ id: string }>('POST', `${address}/save`, body, by.token)
  return `${address}/${id}`
}

/** One with a run that has ended and has a result. @returns the address of the result */
async function savedResult(world: PermissionWorld): Promise<string> {
  const { pool } = world.relational
  const path = await saved(world)
  const runId = newId()
  await pool.query(
    `insert into saved_query_runs (id, company_id, saved_query_id, trigger, planned_for, state, attempts, results, results_until)
     values ($1, $2, $3, 'manual', now(), 'delivered', 1, $4, now() + interval '1 day')`,
    [
      runId,
      world.admin.companyId,
      path.split('/').at(-1),
      JSON.stringify([{ index: 0, fileName: 'a.csv', rows: 0, bytes: 3 }]),
    ],
  )
  await pool.query(
    `insert into saved_query_results (run_id, attempt, query_index, piece, content) values ($1, 1, 0, 0, 'a\r\n')`,
    [runId],
  )
  return `${path}/runs/${runId}/results/0`
}

const schedule = (email: string) => ({ frequency: 'daily', time: '08:00', recipients: [email] })

/** A user who schedules, runs or downloads takes data out of the product. */
const exporting = (call: FurtherCase['call']): readonly FurtherCase[] => [
  {
    says: 'takes nothing out without Statistics: export',
    rights: only('statistics access'),
    call,
    refusal: 'forbidden',
  },
  { says: 'needs both permissions', rights: only('statistics access', 'statistics export'), call },
]

const read = (suffix: string): PermissionRow => ({
  needs: 'statistics access',
  call: async (world) => ({ path: `${await saved(world)}${suffix}` }),
  stranger: 404,
})

export const savedQueryRows: PermissionRows = {
  saveQuery: {
    needs: 'statistics access',
    call: () => ({ path: `${address}/save`, body }),
    stranger: 200,
    further: exporting((_world, { email }) => ({
      path: `${address}/save`,
      body: { ...body, schedule: schedule(email) },
    })),
  },
  updateSavedQuery: {
    needs: 'statistics access',
    call: async (world) => ({ path: await saved(world), body: { name: 'People' } }),
    alone: 403,
    stranger: 404,
    further: [
      ...exporting(async (world, caller) => ({
        path: await saved(world, caller),
        body: { schedule: schedule(caller.email) },
      })),
      ...ofOthers((path) => ({ path, body: { queries: [query] } }), saved),
      {
        says: 'gives no other queries to a schedule without Statistics: export',
        rights: only('statistics access', 'statistics manage'),
        call: async (world) => {
          const { id } = await world.make<{ id: string }>('POST', `${address}/save`, {
            ...body,
            schedule: schedule(world.admin.email),
          })
          return { path: `${address}/${id}`, body: { queries: [query] } }
        },
        refusal: 'forbidden',
      },
    ],
  },
  listSavedQueries: { needs: 'statistics access', call: () => ({ path: address }), stranger: 200 },
  readSavedQuery: read(''),
  deleteSavedQuery: { ...read(''), alone: 403, further: ofOthers((path) => ({ path }), saved) },
  listSavedQueryRuns: read('/runs'),
  listNextRuns: read('/next-runs'),
  previewSchedule: {
    needs: 'statistics access',
    call: () => ({ path: `${address}/next-runs`, body: { frequency: 'daily', time: '07:30' } }),
    stranger: 200,
  },
  runSavedQuery: {
    ...read('/run'),
    alone: 403,
    further: exporting(async (world) => ({ path: `${await saved(world)}/run` })),
  },
  readRunResult: {
    needs: 'statistics access',
    call: async (world) => ({ path: await savedResult(world) }),
    alone: 403,
    stranger: 404,
  },
}
