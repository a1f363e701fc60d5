import { type ErrorName, errorTable } from '@millrace/contract/errors.ts'
import type { Operation, OperationAudit } from '@millrace/contract/operation.ts'
import { errorsOf } from '@millrace/contract/operation-errors.ts'
import { allOperations } from '@millrace/contract/operations/all.ts'
import { auditActions } from '@millrace/contract/resources/audit-entry.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { undecided } from '../../src/features/identity/sessions/access/refusal-audit.ts'
import { goodPassword } from '../support/auth.ts'
import { oneOfEach } from '../support/long.ts'
import { openPermissionWorld, type PermissionWorld, type Person } from '../support/permission-world.ts'
import { findRefusal, refusalRows } from '../support/refusal-rows.ts'
import { wrongPassword } from '../support/refusal-rows-own-account.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/**
 * Every refusal of every operation that changes people, rights or ways in, in the short form each error once of each
 * feature; the rows are in support/refusal-rows.ts.
 */

let service: Service
let world: PermissionWorld

beforeAll(async () => {
  service = await startService()
  world = await openPermissionWorld(service)
})

afterAll(async () => {
  await world.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

/** Operations that answer or change nothing that the audit log is about. */
const otherTags: ReadonlySet<string> = new Set(['Statistics', 'Datasources', 'Workflows'])

type Audited = Operation & { readonly audit: OperationAudit }

const audited = allOperations.filter((operation: Operation): operation is Audited & typeof operation =>
  Boolean(operation.audit),
)

test('every operation that changes people, rights or ways in is audited', () => {
  const missing = allOperations.filter(
    ({ scope, method, tag, audit }: Operation) =>
      scope === 'authenticated' && method !== 'GET' && !otherTags.has(tag) && !audit,
  )
  expect(missing.map(({ id }) => id)).toEqual([])
})

/** Of operations that words describe; everybody may about themselves. */
const canForbid = ({ id, permission }: Operation): boolean =>
  permission !== undefined || findRefusal({ id } as Operation, 'forbidden') !== undefined

const refusals = audited.flatMap((operation) =>
  errorsOf(operation)
    .filter((error) => !undecided.has(error) && (error !== 'forbidden' || canForbid(operation)))
    .map((error) => [operation.id, error, operation] as const),
)

test('every failure is either no decision or has a row here', () => {
  const without = refusals.filter(([, error, operation]) => findRefusal(operation, error) === undefined)
  expect(without.map(([id, error]) => `${id} ${error}`)).toEqual([])
})

test('every row is of a failure that its operation names', () => {
  const known = new Set(refusals.map(([id, error]) => `${id} ${error}`))
  const rows = Object.entries(refusalRows).flatMap(([id, row]) =>
    Object.keys(row).map((error) => `${id} ${error}`),
  )
  expect(rows.filter((row) => !known.has(row))).toEqual([])
})

interface Entry {
  readonly id: string
  readonly target_id: string | null
}

/** What a statement sees now, by which `entriesSince` knows what was not there yet: reading all of thousands takes longer. */
async function snapshot(): Promise<string> {
  const { rows } = await world.relational.pool.query<{ taken: string }>(
    'select pg_current_snapshot()::text as taken',
  )
  return rows[0]?.taken ?? ''
}

async function entriesSince(taken: string): Promise<Entry[]> {
  const { rows } = await world.relational.pool.query<Entry>(
    'select * from audit_entries where not pg_visible_in_snapshot(xmin::text::xid8, $1::pg_snapshot)',
    [taken],
  )
  return rows
}

function targetIdOf({ audit, url }: Audited, caller: Person, path: string): string | null {
  if (audit.of === 'caller') return caller.userId
  if (audit.of === 'company') return caller.companyId
  const place = url.split('/').indexOf(`:${audit.param ?? 'id'}`)
  return place < 0 ? null : (path.split('?')[0]?.split('/')[place] ?? null)
}

const runnable = refusals.flatMap(([id, error, operation]) => {
  const make = findRefusal(operation, error)
  return typeof make === 'function' ? [[id, error, operation, make] as const] : []
})

describe('a refusal is recorded once, for the company of the caller, and without secrets', () => {
  const kindOf = ([, error, { tag }]: (typeof runnable)[number]) => `${tag} ${error}`
  test.each(oneOfEach(runnable, kindOf))('%s: %s', async (_id, error: ErrorName, operation, make) => {
    const { caller, call } = await make(world)
    const before = await snapshot()
    const reply = await world.call(caller.token, operation.method, call)
    const { status, errorCode } = errorTable[error]
    expect(await reply.json()).toMatchObject({ code: status, error_code: errorCode })
    const fresh = await entriesSince(before)
    const { action, target } = operation.audit
    expect(fresh).toHaveLength(1)
    expect(fresh[0]).toMatchObject({
      company_id: caller.companyId,
      category: auditActions[action],
      action,
      actor_kind: 'user',
      actor_id: caller.userId,
      actor_name: caller.email,
      target_kind: target ?? null,
      target_id: targetIdOf(operation, caller, call.path),
      outcome: 'failure',
      error,
      address: expect.stringMatching(/^(127\.|::1|::ffff:127)/),
    })
    for (const secret of [caller.token, goodPassword, wrongPassword, 'another field', '/secret'])
      expect(JSON.stringify(fresh)).not.toContain(secret)
    await world.relational.pool.query('delete from leaky_buckets')
  })
})
