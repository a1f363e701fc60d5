import { assignVariant } from '@millrace/contract/experiments/assignment.ts'
import type { Assignment, Experiment } from '@millrace/contract/resources/experiment.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ColumnarUnavailable } from '../../src/platform/stores/columnar.ts'
import { type ExperimentsApp, openExperimentsApp } from '../support/experiments.ts'
import { times } from '../support/long.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { type StoredEvent, storedEvent } from '../support/statistics-events.ts'

let engine: StatisticsEngine
let opened: ExperimentsApp
let outage: Error | undefined

beforeAll(async () => {
  engine = await openStatisticsEngine()
  const { stream } = engine.columnar
  opened = await openExperimentsApp({
    columnar: {
      ...engine.columnar,
      stream: (statement) => (outage ? Promise.reject(outage) : stream(statement)),
    },
  })
})

beforeEach(async () => {
  outage = undefined
  await engine.empty()
})

afterAll(async () => {
  await opened.close()
  await engine.close()
})

const clock = () => opened.relational.time.clock.now()

async function ask(experiment: Experiment, unit: string): Promise<Assignment> {
  const reply = await opened.call('GET', `/${experiment._id}/assignment?unit=${encodeURIComponent(unit)}`)
  if (reply.status !== 200) throw new Error(reply.message)
  return reply.data as unknown as Assignment
}

/** Units that the hash gives to a variant. */
function unitOf(experiment: Experiment, variantId: string, prefix: string): string {
  for (let i = 0; ; i++)
    if (assignVariant(experiment.salt, prefix + i, experiment.variants).id === variantId) return prefix + i
}

const event = (fields: Partial<StoredEvent>) =>
  storedEvent({ company: opened.app.companyId, time: clock(), ...fields })
const exposure = ({ _id }: Experiment, variantId: string, fields: Partial<StoredEvent>) =>
  event({ name: 'experiment_exposure', labels: { experimentId: _id, variantId }, ...fields })
const binding = (tmpId: string, clientId: string, fields: Partial<StoredEvent> = {}) =>
  event({ name: 'identify', tmpId, clientId, ...fields })

const running = (fields: Parameters<ExperimentsApp['create']>[0] = {}) =>
  opened.create(fields).then((made) => opened.take(made, 'running'))

describe('a unit without exposure', () => {
  test('gets the variant of the hash while the experiment is running', async () => {
    const experiment = await running()
    const found = new Set<string>()
    for (const unit of ['ada', 'Zoë', '🙂', 'a:b', ' ', "' or 1=1 --", '%00'.repeat(3), 'x'.repeat(512)]) {
      const variant = assignVariant(experiment.salt, unit, experiment.variants)
      found.add(variant.id)
      expect(await ask(experiment, unit)).toEqual({
        experimentId: experiment._id,
        unit,
        variantId: variant.id,
        tagValueId: variant.tagValueId,
        isBaseline: variant.id === 'control',
        reason: 'allocation',
        recordsExposure: true,
        exposuresRead: true,
      })
    }
    expect(found.size).toBe(2)
  })

  test('gets the baseline before the start and after the end, and what was decided', async () => {
    const experiment = await opened.create()
    const unit = unitOf(experiment, 'treatment', 'ada')
    const base = { variantId: 'control', isBaseline: true, recordsExposure: false }
    expect(await ask(experiment, unit)).toMatchObject({ ...base, reason: 'not-started' })
    await opened.take(experiment, 'scheduled')
    expect(await ask(experiment, unit)).toMatchObject({ ...base, reason: 'not-started' })
    await opened.act(experiment, 'start')
    expect(await ask(experiment, unit)).toMatchObject({ variantId: 'treatment', reason: 'allocation' })
    await opened.act(experiment, 'end')
    expect(await ask(experiment, unit)).toMatchObject({ ...base, reason: 'ended' })
    await opened.act(experiment, 'decide', { routingVariantId: 'treatment' })
    const decided = { variantId: 'treatment', reason: 'decision', recordsExposure: false, isBaseline: false }
    expect(await ask(experiment, unit)).toMatchObject(decided)
    await opened.act(experiment, 'archive')
    expect(await ask(experiment, unit)).toMatchObject(decided)
  })

  test('gets the baseline of an archived one that was never decided', async () => {
    const draft = await opened.create()
    await opened.act(draft, 'archive')
    expect(await ask(draft, 'ada')).toMatchObject({
      variantId: 'control',
      reason: 'not-started',
      tagValueId: null,
    })
    const ended = await opened.take(await opened.create(), 'ended')
    await opened.act(ended, 'archive')
    expect(await ask(ended, 'ada')).toMatchObject({ variantId: 'control', reason: 'ended' })
  })

  test.each(['', '?unit=', `?unit=${'x'.repeat(513)}`, '?unit=%00', '?unit=a&unit=b', '?user=a'])(
    'is refused as %s',
    async (search) => {
      const experiment = await running()
      const reply = await opened.call('GET', `/${experiment._id}/assignment${search}`)
      expect(reply.status).toBe(400)
    },
  )
})

describe('a person who was exposed', () => {
  /** The variant that the hash does not give. */
  const other = (experiment: Experiment, unit: string) =>
    experiment.variants.find((each) => each !== assignVariant(experiment.salt, unit, experiment.variants))
      ?.id ?? ''

  test('keeps the variant under the clientId that the device is bound to later', async () => {
    const experiment = await running()
    const tmpId = unitOf(experiment, 'control', 'device-')
    const clientId = unitOf(experiment, 'treatment', 'ada-')
    await engine.load([exposure(experiment, 'control', { tmpId })])
    expect(await ask(experiment, clientId)).toMatchObject({ variantId: 'treatment', reason: 'allocation' })
    await engine.load([binding(tmpId, clientId)])
    const kept = { variantId: 'control', reason: 'exposure', recordsExposure: true, exposuresRead: true }
    expect(await ask(experiment, clientId)).toMatchObject(kept)
    expect(await ask(experiment, tmpId)).toMatchObject(kept)
  })

  test('keeps it on a device that is bound to the same person', async () => {
    const experiment = await running()
    const clientId = unitOf(experiment, 'treatment', 'ada-')
    await engine.load([
      exposure(experiment, 'treatment', { tmpId: 'laptop', clientId }),
      binding('phone', clientId),
    ])
    const phone = unitOf(experiment, 'control', 'phone-')
    await engine.load([binding(phone, clientId)])
    expect(await ask(experiment, phone)).toMatchObject({ variantId: 'treatment', reason: 'exposure' })
  })

  test('is who the latest binding says', async () => {
    const experiment = await running()
    const clientId = unitOf(experiment, 'treatment', 'ada-')
    const time = clock()
    await engine.load([
      exposure(experiment, 'control', { tmpId: 'shared' }),
      binding('shared', clientId, { time: time - 1000 }),
      binding('shared', 'bob', { time }),
    ])
    expect(await ask(experiment, clientId)).toMatchObject({ variantId: 'treatment', reason: 'allocation' })
    expect(await ask(experiment, 'bob')).toMatchObject({ variantId: 'control', reason: 'exposure' })
    // With a clientId of its own an event is not that of the device's person.
    await engine.load([
      exposure(experiment, 'treatment', { tmpId: 'shared', clientId: 'eve', time: time - 10 }),
    ])
    expect(await ask(experiment, 'bob')).toMatchObject({ variantId: 'control', reason: 'exposure' })
  })

  test('keeps the first of several, by time, whatever arrived first', async () => {
    const experiment = await running()
    opened.relational.time.advance(10_000)
    const time = clock()
    await engine.load([exposure(experiment, 'treatment', { clientId: 'ada', time })])
    await engine.load([exposure(experiment, 'control', { clientId: 'ada', time: time - 5000 })])
    expect(await ask(experiment, 'ada')).toMatchObject({ variantId: 'control', reason: 'exposure' })
  })

  test('keeps it when the experiment has ended', async () => {
    const experiment = await running()
    const variantId = other(experiment, 'ada')
    await engine.load([exposure(experiment, variantId, { clientId: 'ada' })])
    opened.relational.time.advance(1000)
    await opened.act(experiment, 'end')
    await engine.load([exposure(experiment, variantId, { clientId: 'late' })])
    expect(await ask(experiment, 'ada')).toMatchObject({
      variantId,
      reason: 'exposure',
      recordsExposure: false,
    })
    expect(await ask(experiment, 'late')).toMatchObject({ variantId: 'control', reason: 'ended' })
  })

  test('was exposed by a display that carries the tag of a variant too', async () => {
    const experiment = await running()
    const variantId = other(experiment, 'ada')
    const tagValueId = experiment.variants.find(({ id }) => id === variantId)?.tagValueId ?? ''
    const display = (tagValueIds: string, fields: Partial<StoredEvent>) =>
      event({ name: 'workflow_display', clientId: 'ada', labels: { tagValueIds }, ...fields })
    await engine.load([display(JSON.stringify(['f'.repeat(24), tagValueId]), {})])
    expect(await ask(experiment, 'ada')).toMatchObject({ variantId, tagValueId, reason: 'exposure' })
  })

  test('by an exposure that counts: not before the start, of another experiment, company or variant, or of a preview', async () => {
    const before = clock()
    opened.relational.time.advance(1000)
    const experiment = await running()
    const variantId = other(experiment, 'ada')
    const labels = { experimentId: experiment._id, variantId }
    await engine.load([
      exposure(experiment, variantId, { clientId: 'ada', time: before }),
      exposure(await running(), variantId, { clientId: 'ada' }),
      exposure(experiment, variantId, { clientId: 'ada', company: opened.app.other.companyId }),
      exposure(experiment, 'unknown', { clientId: 'ada' }),
      exposure(experiment, variantId, { clientId: 'ada', labels: { ...labels, preview: 'true' } }),
      exposure(experiment, variantId, { clientId: 'ada', name: 'page_view' }),
      exposure(experiment, variantId, { clientId: 'bob' }),
    ])
    expect(await ask(experiment, 'ada')).toMatchObject({ reason: 'allocation', exposuresRead: true })
  })

  test('X06: gets the variant of the hash while the store is down', async () => {
    const experiment = await running()
    await engine.load([exposure(experiment, other(experiment, 'ada'), { clientId: 'ada' })])
    outage = new ColumnarUnavailable(new Error('refused'))
    const { id: variantId } = assignVariant(experiment.salt, 'ada', experiment.variants)
    expect(await ask(experiment, 'ada')).toMatchObject({
      variantId,
      reason: 'allocation',
      exposuresRead: false,
    })
  })
})

test('a person of random events keeps the variant that a plain reading of them gives', async () => {
  const experiment = await running()
  const start = clock()
  opened.relational.time.advance(1000)
  const devices = ['d0', 'd1', 'd2', 'd3']
  const clients = ['c0', 'c1', 'c2']
  const moment = fc.integer({ min: -5, max: 20 })
  const identify = fc.record({
    kind: fc.constant('identify' as const),
    tmpId: fc.constantFrom(...devices),
    clientId: fc.constantFrom(...clients),
    at: moment,
  })
  const exposed = fc.record({
    kind: fc.constant('exposure' as const),
    tmpId: fc.constantFrom(...devices),
    clientId: fc.constantFrom('', '', ...clients),
    variantId: fc.constantFrom('control', 'treatment', 'unknown'),
    at: moment,
  })
  const happened = fc.array(fc.oneof(identify, exposed), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(happened, async (given) => {
      await engine.empty()
      await engine.load(
        given.map((each) =>
          each.kind === 'identify'
            ? binding(each.tmpId, each.clientId, { time: start + each.at })
            : exposure(experiment, each.variantId, { ...each, time: start + each.at }),
        ),
      )
      const bound = (tmpId: string) =>
        given
          .filter((each) => each.kind === 'identify' && each.tmpId === tmpId)
          .toSorted((a, b) => a.at - b.at || (a.clientId < b.clientId ? -1 : 1))
          .at(-1)?.clientId
      for (const unit of [...devices, ...clients]) {
        const person = bound(unit) ?? unit
        // Those of one time keep the order in which they were collected.
        const [first] = given
          .flatMap((each) => (each.kind === 'exposure' ? [each] : []))
          .filter(({ tmpId, clientId }) => (clientId || bound(tmpId) || tmpId) === person)
          .filter(({ at, variantId }) => at >= 0 && variantId !== 'unknown')
          .toSorted((a, b) => a.at - b.at)
        const hashed = assignVariant(experiment.salt, unit, experiment.variants).id
        expect(await ask(experiment, unit), unit).toMatchObject(
          first
            ? { variantId: first.variantId, reason: 'exposure' }
            : { variantId: hashed, reason: 'allocation' },
        )
      }
    }),
    { numRuns: times(100, 6) },
  )
})

test('a device gets what the hash says without a look at the store, and after the end what it was exposed to', async () => {
  const experiment = await running({ unit: 'device' })
  const tmpId = unitOf(experiment, 'treatment', 'device-')
  await engine.load([exposure(experiment, 'treatment', { tmpId, clientId: 'ada' }), binding(tmpId, 'bob')])
  opened.relational.time.advance(1000)
  const before = engine.statements.length
  expect(await ask(experiment, tmpId)).toMatchObject({
    variantId: 'treatment',
    reason: 'allocation',
    exposuresRead: false,
  })
  expect(engine.statements.length).toBe(before)
  await opened.act(experiment, 'end')
  expect(await ask(experiment, tmpId)).toMatchObject({ variantId: 'treatment', reason: 'exposure' })
  const unexposed = unitOf(experiment, 'treatment', 'other-')
  expect(await ask(experiment, unexposed)).toMatchObject({ variantId: 'control', reason: 'ended' })
})
