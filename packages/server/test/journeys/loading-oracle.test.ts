import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { personDays } from '../../src/database/person-columns.ts'
import { newId } from '../../src/platform/ids.ts'
import {
  company,
  createLoadingGround,
  eventRow,
  type LoadingGround,
  type LogRow,
} from '../support/loading.ts'
import { times } from '../support/long.ts'

const runs = times(20, 2)
let ground: LoadingGround

beforeAll(async () => {
  ground = await createLoadingGround()
})
afterAll(() => ground.close())

const day = 24 * 3_600_000
const start = Date.UTC(2026, 6, 1)

/**
 * An event of a small world, so that the same one comes often. The clock goes on by hours, to meet the edges of the
 * window, and is set back by up to a day and a half: keys are kept for two days beyond the window.
 */
const sent = fc.record({
  datasource: fc.nat(1),
  event: fc.nat(4),
  hours: fc.integer({ min: 0, max: 72 }),
  back: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 36 })),
  changed: fc.boolean(),
  time: fc.integer({ min: 0, max: 400 }),
  content: fc.constantFrom(undefined, undefined, 'workflow_display', 'workflow_click'),
})
const poison = fc.constant('poison' as const)
const noted = fc.record({
  datasource: fc.nat(1),
  kind: fc.constantFrom('dropped', 'bot', 'changed', 'refused'),
  m: fc.nat(9),
})
const row = fc.oneof(
  { weight: 8, arbitrary: sent },
  { weight: 1, arbitrary: noted },
  { weight: 1, arbitrary: poison },
)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.array(row, { minLength: 1, maxLength: 8 }) },
  { weight: 2, arbitrary: fc.constant('load' as const) },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The rule in plain code: an event counts unless one with its key was stored within 7 days of its reception. */
const expected = (rows: { d: string; row: LogRow; q: number }[]) => {
  const stored = new Map<string, number[]>()
  const kept: number[] = []
  const counters = new Map<
    string,
    { accepted: number; changed: number; dropped: number; bot: number; duplicate: number }
  >()
  for (const { d, row, q } of rows) {
    const counts = counters.get(d) ?? { accepted: 0, changed: 0, dropped: 0, bot: 0, duplicate: 0 }
    counters.set(d, counts)
    if (row.z === 'dropped') counts.dropped += Number(row.m)
    if (row.z === 'bot') counts.bot += Number(row.m)
    if (row.z !== 'e') continue
    if (row.t === 'poison') {
      counts.dropped += 1
      continue
    }
    const key = `${d} ${row.e}`
    const times = stored.get(key) ?? []
    if (times.some((time) => Math.abs(time - Number(row.r)) <= 7 * day)) counts.duplicate += 1
    else {
      stored.set(key, [...times, Number(row.r)])
      kept.push(q)
      counts.accepted += 1
      counts.changed += row.g === 1 ? 1 : 0
    }
  }
  return { kept: kept.sort((a, b) => a - b), counters }
}

describe('whatever is sent, in whatever batches', () => {
  it(
    'is stored and counted as the plain rule says',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps: Step[]) => {
          const datasources = [newId(), newId()]
          const rows: { d: string; row: LogRow; q: number }[] = []
          let hours = 0
          for (const action of steps) {
            if (action === 'load') {
              await ground.load()
              continue
            }
            const batch = action.map((each): { d: string; row: LogRow } => {
              const d = datasources[each === 'poison' ? 0 : each.datasource] ?? ''
              if (each === 'poison') return { d, row: eventRow({ d, t: 'poison' }) }
              if ('kind' in each) {
                return {
                  d,
                  row: {
                    z: each.kind,
                    k: company,
                    d,
                    r: start,
                    rule: 'r',
                    path: 'p',
                    sample: 's',
                    m: each.m,
                  },
                }
              }
              hours += each.hours
              const fields = {
                d,
                e: `e${each.event}`,
                r: start + (hours - each.back) * 3_600_000,
                t: start + each.time * day,
                ...(each.content && { n: each.content, l: { workflowId: 'w1' } }),
              }
              return { d, row: eventRow(each.changed ? { ...fields, g: 1 } : fields) }
            })
            const sequences = await ground.append(batch.map((each) => each.row))
            for (const [index, each] of batch.entries()) rows.push({ ...each, q: sequences[index] ?? 0 })
          }
          await ground.load()
          const { kept, counters } = expected(rows)
          const list = datasources.map((d) => `'${d}'`).join(', ')
          const stored = await ground.query<{ seq: number }>(
            `SELECT seq FROM events WHERE datasource IN (${list}) ORDER BY seq`,
          )
          expect(stored.map(({ seq }) => seq)).toEqual(kept)
          const recent = await ground.query<{ seq: number }>(
            `SELECT seq FROM person_events WHERE datasource IN (${list}) ORDER BY seq`,
          )
          const since = Date.now() - personDays * day
          const late = rows.filter(({ row: { t } }) => Number(t) > since).map(({ q }) => q)
          expect(recent.map(({ seq }) => seq)).toEqual(kept.filter((seq) => late.includes(seq)))
          const interactions = await ground.query<{ seq: number }>(
            `SELECT seq FROM workflow_events WHERE datasource IN (${list}) ORDER BY seq`,
          )
          const shown = rows.filter(({ row: { n } }) => String(n).startsWith('workflow_')).map(({ q }) => q)
          expect(interactions.map(({ seq }) => seq)).toEqual(kept.filter((seq) => shown.includes(seq)))
          for (const d of datasources) {
            expect(await ground.counters(d)).toEqual(
              counters.get(d) ?? { accepted: 0, changed: 0, dropped: 0, bot: 0, duplicate: 0 },
            )
          }
        }),
        // A run takes a second: looking for a smaller case would end in a timeout that hides what failed.
        { numRuns: runs, endOnFailure: true },
      )
    },
    600_000 + runs * 15_000,
  )
})
