import type { Assignment } from '@millrace/contract/resources/experiment.ts'
import { expect, test, vi } from 'vitest'
import given from '../../../contract/src/experiments/assignment-vectors.json' with { type: 'json' }
import type { SentEvent } from '../events/envelope.ts'
import { type AssignableExperiment, assign } from './assign.ts'
import { createExperiments, type ExperimentsOptions } from './experiments.ts'

const id = '65f0c0ffee5ca1ab1e0dd001'

const experiment = (fields: Partial<AssignableExperiment> = {}): AssignableExperiment => ({
  _id: id,
  unit: 'user',
  status: 'running',
  startedAt: '2026-01-01T00:00:00.000Z',
  salt: '00000000000000000000000000000000',
  baselineVariantId: 'control',
  variants: [
    { id: 'control', name: 'Present page', allocation: 0.5, tagValueId: '65f0c0ffee5ca1ab1e0dd011' },
    { id: 'treatment', name: 'New page', allocation: 0.5, tagValueId: '65f0c0ffee5ca1ab1e0dd012' },
  ],
  ...fields,
})

/** Units of the vectors on either side of the middle. */
const inTreatment = 'a'
const inControl = '0b5f6c1e-6f0f-4f53-9d55-0d2f9a2c8e11'

test.each(given.vectors.filter(({ unit }) => unit !== ''))(
  'assigns $salt:$unit as all other implementations do',
  ({ salt, unit, variant }) => {
    const variants = given.allocations.map((allocation, i) => ({ id: String(i), name: `${i}`, allocation }))
    const { variantId, reason } = assign(experiment({ salt, variants, baselineVariantId: '0' }), unit)
    expect({ variantId, reason }).toEqual({ variantId: String(variant), reason: 'allocation' })
  },
)

test.each([
  ['draft', { status: 'draft', startedAt: null }, 'control', 'not-started', false],
  ['scheduled', { status: 'scheduled', startedAt: null }, 'control', 'not-started', false],
  ['running', {}, 'treatment', 'allocation', true],
  ['ended', { status: 'ended' }, 'control', 'ended', false],
  ['decided', { status: 'decided', outcome: outcome('treatment') }, 'treatment', 'decision', false],
  [
    'archived as decided',
    { status: 'archived', outcome: outcome('treatment') },
    'treatment',
    'decision',
    false,
  ],
  ['archived', { status: 'archived' }, 'control', 'ended', false],
  ['archived as a draft', { status: 'archived', startedAt: null }, 'control', 'not-started', false],
] satisfies [string, Partial<AssignableExperiment>, string, string, boolean][])(
  'gives the variant of the state %s',
  (_, fields, variantId, reason, recordsExposure) => {
    expect(assign(experiment(fields), inTreatment)).toEqual({
      experimentId: id,
      unit: inTreatment,
      variantId,
      tagValueId: variantId === 'control' ? '65f0c0ffee5ca1ab1e0dd011' : '65f0c0ffee5ca1ab1e0dd012',
      isBaseline: variantId === 'control',
      reason,
      recordsExposure,
      exposuresRead: false,
    })
  },
)

function outcome(routingVariantId: string) {
  return { status: 'decided', routingVariantId } as const
}

test.each(['', 'x'.repeat(513), 'a\0', '\ud800'])('refuses a unit that the service refuses: %j', (unit) => {
  expect(() => assign(experiment(), unit)).toThrow(RangeError)
})

/** A client that answers an experiment of the test, and exposures; and a sender that keeps what it gets. */
function world(options: Partial<ExperimentsOptions> = {}) {
  const state = {
    experiment: experiment() as AssignableExperiment | Error,
    exposures: {} as Record<string, string>,
    fails: false,
    now: 0,
    hasRoom: true,
    reads: 0,
    asked: [] as string[],
    sent: [] as SentEvent[],
    errors: [] as unknown[],
  }
  const experiments = createExperiments({
    client: {
      async readExperiment() {
        state.reads++
        if (state.experiment instanceof Error) throw state.experiment
        return state.experiment
      },
      async readAssignment({ query: { unit } }): Promise<Assignment> {
        state.asked.push(unit)
        if (state.fails || state.experiment instanceof Error) throw new Error('the service is down')
        const local = assign(state.experiment, unit)
        const variantId = state.exposures[unit]
        return variantId === undefined
          ? { ...local, exposuresRead: true }
          : { ...local, variantId, reason: 'exposure', exposuresRead: true }
      },
    },
    sender: {
      send(event) {
        if (state.hasRoom) state.sent.push(event)
        return state.hasRoom
      },
    },
    onError: (error) => state.errors.push(error),
    monotonicNow: () => state.now,
    ...options,
  })
  return { state, experiments }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('reads a definition once for all that ask, and again when its time is over', async () => {
  const { state, experiments } = world({ refreshInterval: 1000 })
  const all = await Promise.all([inTreatment, inControl].map((unit) => experiments.assign(id, unit)))
  expect(all.map(({ variantId }) => variantId)).toEqual(['treatment', 'control'])
  state.now = 999
  await experiments.assign(id, inTreatment)
  expect(state.reads).toBe(1)
  state.now = 1000
  state.experiment = experiment({ status: 'ended' })
  expect((await experiments.assign(id, inTreatment)).variantId).toBe('treatment')
  await settled()
  expect(await experiments.assign(id, inTreatment)).toMatchObject({ variantId: 'control', reason: 'ended' })
  expect(state.reads).toBe(2)
  state.now = 100_000
  state.experiment = experiment({ status: 'decided', outcome: outcome('treatment') })
  expect(await experiments.assign(id, inControl)).toMatchObject({
    variantId: 'treatment',
    reason: 'decision',
  })
})

test('goes on with what is known while the service is down, and does not ask it for each unit', async () => {
  const { state, experiments } = world({ refreshInterval: 1000 })
  await experiments.assign(id, inTreatment)
  state.experiment = new Error('down')
  state.now = 10_000_000
  for (let i = 0; i < 10; i++) expect((await experiments.assign(id, inTreatment)).variantId).toBe('treatment')
  expect(state.reads).toBe(2)
  expect(state.errors).toEqual([state.experiment])
  state.now += 5000
  state.experiment = experiment({ status: 'ended' })
  expect((await experiments.assign(id, inTreatment)).variantId).toBe('control')
})

test('says what failed where an experiment was never read', async () => {
  const { state, experiments } = world()
  state.experiment = new Error('Unable to find experiment')
  for (let i = 0; i < 3; i++) await expect(experiments.assign(id, inTreatment)).rejects.toBe(state.experiment)
  expect(state.reads).toBe(1)
  state.now = 5000
  state.experiment = experiment()
  expect((await experiments.assign(id, inTreatment)).variantId).toBe('treatment')
})

test('sends an exposure once for each unit', async () => {
  const { state, experiments } = world()
  for (let i = 0; i < 3; i++) {
    await experiments.expose(id, { tmpId: 'device-1', clientId: inTreatment, url: 'https://shop.example/' })
    await experiments.expose(id, { clientId: inControl })
    await experiments.expose(id, { tmpId: inControl, clientId: 'null' })
  }
  expect(state.sent).toEqual([
    {
      name: 'experiment_exposure',
      url: 'https://shop.example/',
      tmpId: 'device-1',
      clientId: inTreatment,
      data: { experimentId: id, variantId: 'treatment' },
    },
    { name: 'experiment_exposure', clientId: inControl, data: { experimentId: id, variantId: 'control' } },
  ])
})

test('sends it again where there was no room for it', async () => {
  const { state, experiments } = world()
  state.hasRoom = false
  await experiments.expose(id, { tmpId: inTreatment })
  await settled()
  state.hasRoom = true
  await experiments.expose(id, { tmpId: inTreatment })
  await experiments.expose(id, { tmpId: inTreatment })
  expect(state.sent).toHaveLength(1)
})

test('never waits for the sender', async () => {
  const { experiments } = world({ sender: { send: () => new Promise<boolean>(() => {}) } })
  expect((await experiments.expose(id, { tmpId: inTreatment })).variantId).toBe('treatment')
  const failing = world({ sender: { send: () => Promise.reject(new Error('no')) } })
  await failing.experiments.expose(id, { tmpId: inTreatment })
  await settled()
  expect(failing.state.errors).toEqual([new Error('no')])
})

test.each([
  ['draft', null],
  ['ended', '2026-01-01T00:00:00.000Z'],
] as const)('sends no exposure in the state %s', async (status, startedAt) => {
  const { state, experiments } = world()
  state.experiment = experiment({ status, startedAt })
  await experiments.expose(id, { tmpId: inTreatment })
  expect(state.sent).toEqual([])
})

test('of an experiment on devices the unit is the tmpId', async () => {
  const { state, experiments } = world({ readExposures: true })
  state.experiment = experiment({ unit: 'device' })
  const { unit, variantId } = await experiments.expose(id, { tmpId: inTreatment, clientId: inControl })
  expect({ unit, variantId }).toEqual({ unit: inTreatment, variantId: 'treatment' })
  expect(state.asked).toEqual([])
  await expect(experiments.expose(id, { clientId: inControl })).rejects.toThrow('tmpId')
})

test('asks the service once which variant a person met before, where that is wanted', async () => {
  const { state, experiments } = world({ readExposures: true })
  state.exposures = { [inTreatment]: 'control' }
  for (let i = 0; i < 3; i++) {
    expect(await experiments.assign(id, inTreatment)).toMatchObject({
      variantId: 'control',
      reason: 'exposure',
    })
    expect(await experiments.assign(id, inControl)).toMatchObject({
      reason: 'allocation',
      exposuresRead: true,
    })
  }
  expect(state.asked).toEqual([inTreatment, inControl])
})

test('where the service does not answer that, the hash decides, and it is asked again', async () => {
  const { state, experiments } = world({ readExposures: true })
  state.exposures = { [inTreatment]: 'control' }
  state.fails = true
  expect(await experiments.assign(id, inTreatment)).toMatchObject({
    variantId: 'treatment',
    exposuresRead: false,
  })
  expect(state.errors).toHaveLength(1)
  state.fails = false
  expect(await experiments.assign(id, inTreatment)).toMatchObject({
    variantId: 'control',
    exposuresRead: true,
  })
})

test('shows what is overridden, without an exposure, and refuses a variant that does not exist', async () => {
  const { state, experiments } = world({ overrides: { [id]: 'control' } })
  expect(await experiments.expose(id, { tmpId: inTreatment })).toMatchObject({
    variantId: 'control',
    isBaseline: true,
    reason: 'override',
    recordsExposure: false,
  })
  expect(state.sent).toEqual([])
  const wrong = world({ overrides: { [id]: 'other' } })
  await expect(wrong.experiments.assign(id, 'a')).rejects.toThrow(
    'has no variant other: it has control, treatment',
  )
})

test('a callback that throws changes nothing', async () => {
  const { state, experiments } = world({
    readExposures: true,
    onError: vi.fn(() => {
      throw new Error('of the callback')
    }),
  })
  state.fails = true
  expect((await experiments.assign(id, inTreatment)).variantId).toBe('treatment')
})
