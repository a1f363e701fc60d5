import { type AuditAction, auditActions } from '@millrace/contract/resources/audit-entry.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditDeeds } from '../support/audit-deeds.ts'
import { type AuditWorld, openAuditWorld } from '../support/audit-world.ts'

/** One deed for each action of the audit log; the rows are in support/audit-deeds.ts. */

let world: AuditWorld

beforeAll(async () => {
  world = await openAuditWorld()
})

afterAll(() => world.close())

test('every action has a deed', () => {
  expect(Object.keys(auditDeeds).toSorted()).toEqual(Object.keys(auditActions).toSorted())
})

const actions = Object.keys(auditActions) as AuditAction[]

test.each(actions)('%s is recorded once, with who did it, to what and with which outcome', async (action) => {
  const { actor, target, error, isUnaddressed, also = [] } = await auditDeeds[action](world)
  const { entries, companyId } = await world.entries()
  expect(entries.map((entry) => entry.action).toSorted()).toEqual([action, ...also].toSorted())
  const entry = entries.find((each) => each.action === action)
  expect(entry).toMatchObject({
    category: auditActions[action],
    company_id: companyId,
    actor_kind: actor[0],
    actor_id: actor[1],
    target_kind: target?.[0] ?? null,
    target_id: target?.[1] ?? null,
    ...(target?.[2] === undefined ? {} : { target_name: target[2] }),
    outcome: error === undefined ? 'success' : 'failure',
    error: error ?? null,
    address: isUnaddressed ? null : expect.stringMatching(/^[\d.]+$/),
  })
})
