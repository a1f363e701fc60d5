import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventLog, Position } from '../../src/platform/stores/event-log.ts'
import { openSegmentLog } from '../../src/platform/stores/segment-log.ts'
import { readLog } from '../support/log-lines.ts'
import { times } from '../support/long.ts'
import { type DiskCall, SimulatedDisk } from '../support/simulated-disk.ts'

/** Numbers in [0, 1) from a seed, so that a failing run can be repeated. */
const chances = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 0x1_0000_0000
  }
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      parallel: fc.integer({ min: 1, max: 12 }),
      size: fc.integer({ min: 0, max: 300 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('load' as const),
      maxBytes: fc.integer({ min: 1, max: 2_000 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('kill' as const),
      during: fc.integer({ min: 0, max: 8 }),
      seed: fc.nat(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('power' as const),
      during: fc.integer({ min: 0, max: 8 }),
      seed: fc.nat(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      site: fc.constantFrom<DiskCall>(
        'create',
        'write',
        'datasync',
        'syncDirectory',
        'unlink',
        'prepare',
        'rename',
      ),
      partial: fc.option(fc.nat(200), { nil: undefined }),
    }),
  },
)
const flip = fc.record({
  kind: fc.constant('flip' as const),
  at: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
})

type Step =
  | (typeof step extends fc.Arbitrary<infer T> ? T : never)
  | (typeof flip extends fc.Arbitrary<infer T> ? T : never)

/** Plays the steps on a simulated disk, as a collector and a loader would, and keeps account of what they were told. */
const play = async (steps: Step[], preparesSegments: boolean) => {
  const disk = new SimulatedDisk()
  const open = (): Promise<EventLog> =>
    openSegmentLog({
      directory: '/log',
      files: disk.files,
      segmentBytes: 2_000,
      preparesSegments,
    })
  let log = await open()
  const sent = new Set<string>()
  const acknowledged = new Set<string>()
  const loaded: string[] = []
  let checkpoint: Position = log.start()
  let sequence = 0
  let damage = 0

  const send = async (size: number): Promise<void> => {
    const first = log.reserve(2)
    expect(first).toBeGreaterThan(sequence)
    sequence = first + 1
    const lines = [first, first + 1].map((q) => `{"q":${q},"x":"${'é'.repeat(size)}"}`)
    for (const line of lines) sent.add(line)
    await log.append(`${lines.join('\n')}\n`, 2, first)
    for (const line of lines) acknowledged.add(line)
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const restart = async (seed: number, power: boolean, during: number): Promise<void> => {
    const pending = Promise.allSettled(Array.from({ length: 3 }, () => send(20)))
    for (let turns = 0; turns < during; turns++) await turn()
    // From here on the old process is dead: whatever it was told counts, it does nothing more.
    disk.fault = () => ({ code: 'EIO' })
    await pending
    disk.fault = () => undefined
    if (power) disk.losePower(chances(seed))
    damage += log.state().damage.length
    log = await open()
  }

  for (const action of steps) {
    if (action.kind === 'append') {
      await Promise.allSettled(Array.from({ length: action.parallel }, () => send(action.size)))
    } else if (action.kind === 'load') {
      const batch = await log.read(checkpoint, action.maxBytes)
      if (batch) {
        if (batch.count > 0) loaded.push(...batch.payload.toString().slice(0, -1).split('\n'))
        expect(batch.payload.toString().split('\n').length - 1).toBe(batch.count)
        checkpoint = batch.next
        await log.release(checkpoint).catch(() => undefined)
      }
    } else if (action.kind === 'fault') {
      let armed = true
      disk.fault = (call) => {
        if (call !== action.site || !armed) return undefined
        armed = false
        return action.partial === undefined ? { code: 'EIO' } : { code: 'ENOSPC', partial: action.partial }
      }
    } else if (action.kind === 'flip') disk.flipBit(action.at)
    else await restart(action.seed, action.kind === 'power', action.during)
  }
  disk.fault = () => undefined
  const rest = await readLog(log, checkpoint, 700)
  loaded.push(...rest.lines)
  damage += log.state().damage.length
  return { sent, acknowledged, loaded, damage }
}

const check = ({ sent, loaded }: Awaited<ReturnType<typeof play>>): void => {
  expect(loaded.filter((line) => !sent.has(line))).toEqual([])
  expect(new Set(loaded).size).toBe(loaded.length)
}

describe('whatever appends, faults, kills and losses of power', () => {
  it('every acknowledged line is read exactly once, and nothing that was not sent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 25 }),
        fc.boolean(),
        async (steps, prepares) => {
          const result = await play(steps, prepares)
          check(result)
          const read = new Set(result.loaded)
          expect([...result.acknowledged].filter((line) => !read.has(line))).toEqual([])
        },
      ),
      { numRuns: times(500, 100) },
    )
  })

  it('with turned bits besides, a line is lost only where damage is reported, and none is read changed or twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(step, flip), { minLength: 1, maxLength: 25 }),
        fc.boolean(),
        async (steps, prepares) => {
          const result = await play(steps, prepares)
          check(result)
          const read = new Set(result.loaded)
          const lost = [...result.acknowledged].filter((line) => !read.has(line))
          if (lost.length > 0) expect(result.damage).toBeGreaterThan(0)
        },
      ),
      { numRuns: times(500, 100) },
    )
  })
})
