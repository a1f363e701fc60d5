import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { createExperimentStarter } from '../../src/features/experiments/experiment-start.ts'
import type { RecordAudit } from '../../src/platform/audit.ts'
import { type ExperimentsApp, openExperimentsApp } from '../support/experiments.ts'
import { day, minute } from '../support/fake-time.ts'

let opened: ExperimentsApp

beforeAll(async () => {
  opened = await openExperimentsApp()
})

beforeEach(async () => {
  await opened.relational.pool.query('delete from experiments')
  await opened.app.audit()
})

afterAll(() => opened.close())

const clock = () => opened.relational.time.clock.now()

/** What a process of its own does. */
function starter(record: RecordAudit = recordAudit, errors: object[] = []) {
  const { relational } = opened
  return createExperimentStarter({
    relational,
    recordAudit: record,
    clock: relational.time.clock,
    log: { error: (fields: object) => errors.push(fields) } as never,
  })
}

async function scheduled(afterMs: number): Promise<Experiment> {
  const made = await opened.create()
  const scheduledAt = new Date(clock() + afterMs).toISOString()
  return (await opened.act(made, 'schedule', { scheduledAt })).data
}

const starts = async () => (await opened.app.audit()).filter(({ action }) => action === 'experiment-start')

test('what is due starts, and nothing else', async () => {
  const due = await scheduled(minute)
  const later = await scheduled(2 * minute)
  const draft = await opened.create()
  expect(await starter().startDue()).toBe(0)
  opened.relational.time.advance(minute)
  expect(await starter().startDue()).toBe(1)
  expect(await opened.read(due)).toMatchObject({
    status: 'running',
    scheduledAt: due.scheduledAt,
    startedAt: new Date(clock()).toISOString(),
  })
  expect(await opened.read(later)).toEqual(later)
  expect(await opened.read(draft)).toEqual(draft)
  expect(await starts()).toMatchObject([
    {
      actor_kind: 'platform',
      actor_id: null,
      target_id: due._id,
      company_id: opened.app.companyId,
      details: { from: 'scheduled', scheduledAt: due.scheduledAt },
    },
  ])
})

test('J01: several processes at once start each experiment once', async () => {
  const due: Experiment[] = []
  for (let i = 0; i < 12; i++) due.push(await scheduled(minute))
  await opened.app.audit()
  opened.relational.time.advance(minute)
  const started = await Promise.all([1, 2, 3, 4].map(() => starter().startDue()))
  expect(started.reduce((sum, count) => sum + count, 0)).toBe(12)
  expect((await starts()).map(({ target_id }) => target_id).sort()).toEqual(due.map(({ _id }) => _id).sort())
})

test('a user and the schedule start it once', async () => {
  const due = await scheduled(minute)
  await opened.app.audit()
  opened.relational.time.advance(minute)
  const [byUser, bySchedule] = await Promise.all([opened.act(due, 'start'), starter().startDue()])
  expect([byUser.status, bySchedule]).toSatisfy(
    ([status, count]: [number, number]) => (status === 200 && count === 0) || (status === 409 && count === 1),
  )
  expect((await starts()).filter(({ outcome }) => outcome === 'success')).toHaveLength(1)
})

test('J06: it starts also when the user who scheduled it is deactivated, because it belongs to the company', async () => {
  const due = await scheduled(minute)
  await opened.relational.pool.query('update experiments set created_by = $1 where id = $2', [
    (await opened.app.person()).id,
    due._id,
  ])
  opened.relational.time.advance(minute)
  await opened.relational.pool.query(
    `update users set status = 'disabled' where id = (select created_by from experiments where id = $1)`,
    [due._id],
  )
  expect(await starter().startDue()).toBe(1)
})

test('one that cannot be started holds up no other, and is started by the next run', async () => {
  const due: Experiment[] = []
  for (let i = 0; i < 3; i++) due.push(await scheduled(minute + i))
  opened.relational.time.advance(2 * minute)
  const errors: object[] = []
  const failing: RecordAudit = async (tx, event) => {
    if (!Array.isArray(event) && (event as { target?: { id?: string } }).target?.id === due[0]?._id)
      throw new Error('no room')
    await recordAudit(tx, event)
  }
  expect(await starter(failing, errors).startDue()).toBe(2)
  expect(errors).toMatchObject([{ experimentId: due[0]?._id }])
  expect((await opened.read(due[0] as Experiment)).status).toBe('scheduled')
  expect(await starter().startDue()).toBe(1)
})

test('a service that stops leaves the rest to the next run', async () => {
  await scheduled(minute)
  opened.relational.time.advance(minute)
  expect(await starter().startDue(AbortSignal.abort())).toBe(0)
  expect(await starter().startDue()).toBe(1)
})

test('J03: a start that was missed for three days happens once, at the time of the next run', async () => {
  const due = await scheduled(minute)
  opened.relational.time.advance(3 * day)
  expect(await starter().startDue()).toBe(1)
  // The administrator's token has ended meanwhile.
  const { token } = await opened.app.person('admin')
  expect(await opened.call('GET', `/${due._id}`, undefined, token)).toMatchObject({
    data: { status: 'running', startedAt: new Date(clock()).toISOString() },
  })
  expect(await starter().startDue()).toBe(0)
})
