import { expect, test } from 'vitest'
import { createZoneCache } from '../../src/features/personalisation/display/zone-cache.ts'
import type { RunnableZone } from '../../src/features/personalisation/runnable-zone.ts'
import { jsonZone, runnerClickKey, runnerWorkflow, straight, zoneOf } from '../support/runner.ts'

const empty = straight(jsonZone, { type: 'empty' })

function world(lookUps = 64) {
  const state = {
    now: 0,
    down: false,
    listening: true,
    asked: [] as string[],
    zone: zoneOf({ definition: empty }) as RunnableZone | undefined,
    hold: undefined as Promise<void> | undefined,
  }
  const zones = createZoneCache({
    async findZone(shortId) {
      state.asked.push(shortId)
      const { zone } = state
      await state.hold
      if (state.down) throw new Error('the database is down')
      return shortId === 'known' ? zone : undefined
    },
    readCompany: async () => ({
      timezone: 'UTC',
      countries: true,
      eventsDatasourceId: undefined,
      clickKey: runnerClickKey,
    }),
    listExperiments: async () => [],
    isListening: () => state.listening,
    clock: { now: () => state.now },
    log: { warn() {}, error() {} } as never,
    capacity: 3,
    lookUps,
  })
  const cache = {
    ...zones,
    find: (shortId: string, address = '198.51.100.1') => zones.find(shortId, address),
  }
  const revise = (revision: string) => {
    state.zone = zoneOf({ definition: empty, revision })
  }
  const revision = async () => (await cache.find('known'))?.zone.published?.revision
  return { state, cache, revise, revision }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a zone is read once while changes are notified, and at once when one is', async () => {
  const { state, cache, revise, revision } = world()
  expect(await revision()).toBe('1')
  state.now = 10_000
  expect(await revision()).toBe('1')
  expect(state.asked).toHaveLength(1)
  revise('2')
  cache.drop('65f0c0ffee5ca1ab1e0ddc99')
  expect(await revision()).toBe('1')
  cache.drop(runnerWorkflow)
  await settled()
  expect(await revision()).toBe('2')
  expect(state.asked).toHaveLength(2)
})

test('the first request after a notified change is answered by what it made', async () => {
  const { state, cache, revise, revision } = world()
  await revision()
  revise('2')
  cache.drop(runnerWorkflow)
  expect(await revision()).toBe('2')
  // A renewal of age that has begun before the change is not enough.
  state.now = 16_000
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  expect(await revision()).toBe('2')
  revise('3')
  cache.drop(runnerWorkflow)
  const next = revision()
  release()
  expect(await next).toBe('3')
})

test('a change that cannot be read is waited for no longer than a moment', async () => {
  const { state, cache, revise, revision } = world()
  await revision()
  state.hold = new Promise(() => {})
  revise('2')
  cache.drop(runnerWorkflow)
  expect(await revision()).toBe('1')
  expect(cache.find('known')).not.toBeInstanceOf(Promise)
})

test('while changes are not notified, a change is served within 800 ms', async () => {
  const { state, revise, revision } = world()
  await revision()
  state.listening = false
  revise('2')
  state.now = 399
  expect(await revision()).toBe('1')
  state.now = 500
  await revision()
  await settled()
  expect(await revision()).toBe('2')
  revise('3')
  // Not used in the meantime: the next request waits for it.
  state.now = 5_000
  expect(await revision()).toBe('3')
})

test('a change that is notified while the zone is read is read again', async () => {
  const { state, cache, revise, revision } = world()
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  const first = cache.find('known')
  revise('2')
  cache.drop(runnerWorkflow)
  release()
  state.hold = undefined
  expect((await first)?.zone.published?.revision).toBe('2')
  expect(await revision()).toBe('2')
  expect(state.asked).toHaveLength(2)
})

test('after a lost connection everything is read again', async () => {
  const { cache, revise, revision } = world()
  await revision()
  revise('2')
  cache.drop(undefined)
  await revision()
  await settled()
  expect(await revision()).toBe('2')
})

test('an archived workflow is no longer published, and a deleted integration is gone', async () => {
  const { state, cache } = world()
  expect((await cache.find('known'))?.executable).toBeDefined()
  state.zone = zoneOf({ definition: empty, published: false })
  cache.drop(runnerWorkflow)
  await settled()
  expect((await cache.find('known'))?.executable).toBeUndefined()
  state.zone = undefined
  cache.drop(runnerWorkflow)
  await settled()
  expect(await cache.find('known')).toBeUndefined()
})

test('while the database is down, the last known version is served', async () => {
  const { state, cache, revision } = world()
  await revision()
  state.down = true
  state.listening = false
  for (const now of [500, 2_000, 100_000]) {
    state.now = now
    expect(await revision()).toBe('1')
  }
  cache.drop(runnerWorkflow)
  await settled()
  expect(await revision()).toBe('1')
  await expect(async () => cache.find('other')).rejects.toThrow('down')
})

test('while the database does not answer, a request waits for a moment only', async () => {
  const { state, revision } = world()
  await revision()
  state.hold = new Promise(() => {})
  state.listening = false
  state.now = 5_000
  expect(await revision()).toBe('1')
  expect(await revision()).toBe('1')
})

test('unknown addresses are remembered for a moment, as many as there is room for', async () => {
  const { state, cache } = world()
  for (let i = 0; i < 5; i++) expect(await cache.find('a')).toBeUndefined()
  expect(state.asked).toHaveLength(1)
  for (const id of ['b', 'c', 'd']) await cache.find(id)
  await cache.find('a')
  expect(state.asked).toHaveLength(5)
  state.now = 2_000
  await cache.find('a')
  expect(state.asked).toHaveLength(6)
})

test('an address that was unknown is known as soon as an integration has it', async () => {
  const { state, cache } = world()
  const { zone } = state
  state.zone = undefined
  expect(await cache.find('known')).toBeUndefined()
  state.zone = zone
  cache.drop(runnerWorkflow)
  expect(await cache.find('known')).toBeDefined()
})

test('one look-up serves all who ask at once', async () => {
  const { state, cache } = world(1)
  await Promise.all([cache.find('known'), cache.find('known')])
  expect(state.asked).toEqual(['known'])
})

test('guesses of one network wait for their turn, and keep no zone from others', async () => {
  const { state, cache } = world(1)
  const guesses = ['a', 'b', 'c'].map((guess) => cache.find(guess))
  expect(await cache.find('known', '203.0.113.1')).toBeDefined()
  await Promise.all(guesses)
  expect(state.asked).toEqual(['a', 'known', 'b', 'c'])
})

test('a version is compiled once for all its zones', async () => {
  const { cache, state } = world()
  const before = await cache.find('known')
  state.zone = zoneOf({ definition: empty, integration: { enabled: false } })
  cache.drop(runnerWorkflow)
  await settled()
  const after = await cache.find('known')
  expect(after?.zone.integration.enabled).toBe(false)
  expect(after?.executable).toBe(before?.executable)
})
