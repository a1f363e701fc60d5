import type { Assignment, Experiment } from '@millrace/contract/resources/experiment.ts'
import { assign, createExperiments } from '@millrace/sdk/experiments'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ExperimentsApp, openExperimentsApp } from '../support/experiments.ts'
import { times } from '../support/long.ts'

let world: ExperimentsApp
beforeAll(async () => {
  world = await openExperimentsApp()
})
afterAll(() => world.close())

async function readAssignment(experimentId: string, unit: string): Promise<Assignment> {
  const reply = await world.call('GET', `/${experimentId}/assignment?unit=${encodeURIComponent(unit)}`)
  if (reply.status !== 200) throw new Error(reply.message)
  return reply.data as unknown as Assignment
}

async function readExperiment(experimentId: string): Promise<Experiment> {
  const reply = await world.call('GET', `/${experimentId}`)
  if (reply.status !== 200) throw new Error(reply.message)
  return reply.data as unknown as Experiment
}

const client = {
  readExperiment: ({ params }: { params: { id: string } }) => readExperiment(params.id),
  readAssignment: ({ params, query }: { params: { id: string }; query: { unit: string } }) =>
    readAssignment(params.id, query.unit),
}

const plan = fc.record({
  unit: fc.constantFrom('user' as const, 'device' as const),
  type: fc.constantFrom('ab' as const, 'holdout' as const),
  shares: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 10 }),
  baseline: fc.nat(),
  state: fc.constantFrom('draft', 'scheduled', 'running', 'running', 'ended', 'decided', 'archived' as const),
})
const units = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter(isUnit), {
  minLength: 5,
  maxLength: 5,
})

function isUnit(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

test(
  'assigns units as the service does, whatever the experiment and its state',
  async () => {
    let number = 0
    const allocated = new Set<string>()
    await fc.assert(
      fc.asyncProperty(plan, units, async ({ unit, type, shares, baseline, state }, someUnits) => {
        const used = type === 'holdout' ? shares.slice(0, 2) : shares
        const total = used.reduce((sum, share) => sum + share, 0)
        const ids = ['control', 'treatment', ...used.slice(2).map((_, i) => `v${i}`)]
        const created = await world.create({
          name: `Experiment ${number++}`,
          type,
          unit,
          variants: used.map((share, i) => ({ id: ids[i] ?? '', name: `V${i}`, allocation: share / total })),
          baselineVariantId: ids[baseline % used.length] ?? '',
        })
        const experiment = await world.take(created, state)
        const experiments = createExperiments({ client })
        for (const each of someUnits) {
          const { exposuresRead, ...answered } = await readAssignment(experiment._id, each)
          const { exposuresRead: _, ...local } = assign(experiment, each)
          expect(local).toEqual(answered)
          expect(await experiments.assign(experiment._id, each)).toEqual({
            ...answered,
            exposuresRead: false,
          })
          if (local.reason === 'allocation') allocated.add(local.variantId)
          // No event has come, so that what the service reads is no exposure.
          expect(exposuresRead).toBe(state === 'ended' || (state === 'running' && unit === 'user'))
        }
      }),
      { numRuns: times(300, 25), seed: 15 },
    )
    expect(allocated.size).toBeGreaterThan(3)
  },
  times(300, 25) * 2000 + 60_000,
)

test('asks the service where earlier exposures are wanted, and says what it says', async () => {
  const running = await world.take(await world.create({ name: 'Asked' }), 'running')
  const experiments = createExperiments({ client, readExposures: true })
  expect(await experiments.assign(running._id, 'someone')).toEqual(
    await readAssignment(running._id, 'someone'),
  )
})

test('says that an experiment does not exist as the service does', async () => {
  const experiments = createExperiments({ client })
  await expect(experiments.assign('65f0c0ffee5ca1ab1e0dd999', 'a')).rejects.toThrow(
    'Unable to find experiment',
  )
})
