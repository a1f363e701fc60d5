import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createSemaphore } from '../../../platform/limits/semaphore.ts'
import { type BatcherLimits, type BatchGroup, createBatcher, TooManyAsked } from './batcher.ts'

interface Call {
  readonly group: BatchGroup
  readonly items: readonly number[]
  readonly signal: AbortSignal
  end(): void
  fail(error: Error): void
}

const limits: BatcherLimits = {
  windowMs: 5,
  perStatement: 3,
  waitingOfCompany: 100,
  waiting: 200,
  statementMs: 10_000,
}

/** Answers each number with its square, once the test says so. */
function open(given: Partial<BatcherLimits> = {}, permits = 1) {
  const calls: Call[] = []
  const arrivals: ((call: Call) => void)[] = []
  const batcher = createBatcher<BatchGroup, number, number>({
    statements: createSemaphore(permits, 1_000),
    limits: { ...limits, ...given },
    answer(group, items, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<number[]>()
      const call = { group, items, signal, end: () => resolve(items.map((n) => n * n)), fail: reject }
      calls.push(call)
      arrivals.shift()?.(call)
      return promise
    },
  })
  const next = () => new Promise<Call>((resolve) => arrivals.push(resolve))
  const ask = (n: number, signal: AbortSignal = new AbortController().signal, companyId = 'a') =>
    batcher.ask({ companyId, key: companyId }, String(n), n, signal)
  return { calls, next, ask }
}

describe('what is asked at one moment', () => {
  it('goes into one statement, and each caller gets its own answer', async () => {
    const { ask, next, calls } = open()
    const first = next()
    const answers = Promise.all([1, 2, 3].map((n) => ask(n)))
    const call = await first
    expect(call.items).toEqual([1, 2, 3])
    call.end()
    expect(await answers).toEqual([1, 4, 9])
    expect(calls).toHaveLength(1)
  })

  it('is asked once for all who ask the same, also while the statement runs', async () => {
    const { ask, next, calls } = open()
    const first = next()
    const early = [ask(2), ask(2)]
    const call = await first
    const late = ask(2)
    call.end()
    expect(await Promise.all([...early, late])).toEqual([4, 4, 4])
    expect(calls).toHaveLength(1)
    expect(call.items).toEqual([2])
  })

  it('is divided into statements of bounded size, of which so many run as there are permits', async () => {
    const { ask, next, calls } = open({}, 2)
    const started = [next(), next()]
    const answers = Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => ask(n)))
    await Promise.all(started)
    await sleep(20)
    expect(calls.map(({ items }) => items)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const third = next()
    for (const call of calls) call.end()
    const last = await third
    expect(last.items).toEqual([7])
    last.end()
    expect(await answers).toEqual([1, 4, 9, 16, 25, 36, 49])
  })

  it('is asked for each company by itself', async () => {
    const { ask, next, calls } = open({}, 2)
    const both = [next(), next()]
    const { signal } = new AbortController()
    const answers = Promise.all([ask(1, signal, 'a'), ask(1, signal, 'b')])
    for (const call of await Promise.all(both)) call.end()
    expect(await answers).toEqual([1, 1])
    expect(calls.map(({ group }) => group.companyId)).toEqual(['a', 'b'])
  })
})

describe('callers who leave', () => {
  it('get the reason at once, and others still get the answer', async () => {
    const { ask, next } = open()
    const leaving = new AbortController()
    const first = next()
    const left = ask(1, leaving.signal)
    const stays = ask(1)
    const call = await first
    leaving.abort(new Error('time is over'))
    await expect(left).rejects.toThrow('time is over')
    expect(call.signal.aborted).toBe(false)
    call.end()
    expect(await stays).toBe(1)
  })

  it('leave the statement that runs to those who ask next', async () => {
    const { ask, next, calls } = open({}, 2)
    const leaving = new AbortController()
    const first = next()
    const left = [ask(1, leaving.signal), ask(2, leaving.signal)]
    const call = await first
    leaving.abort(new Error('gone'))
    for (const each of await Promise.allSettled(left)) expect(each.status).toBe('rejected')
    expect(call.signal.aborted).toBe(false)
    const again = ask(1)
    call.end()
    expect(await again).toBe(1)
    expect(calls).toHaveLength(1)
    const second = next()
    const later = ask(2)
    const other = await second
    other.end()
    expect(await later).toBe(4)
  })

  it('are not asked for when they leave before the statement', async () => {
    const { ask, next } = open()
    const leaving = new AbortController()
    const left = ask(1, leaving.signal)
    const first = next()
    const stays = ask(2)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    const call = await first
    expect(call.items).toEqual([2])
    call.end()
    await stays
  })

  it('are refused where they come with an aborted signal', async () => {
    const { ask, calls } = open()
    await expect(ask(1, AbortSignal.abort(new Error('late')))).rejects.toThrow('late')
    await sleep(20)
    expect(calls).toEqual([])
  })
})

describe('a store that fails', () => {
  it('fails those who wait, and is asked again afterwards', async () => {
    const { ask, next } = open()
    const first = next()
    const failing = Promise.allSettled([ask(1), ask(2)])
    const call = await first
    call.fail(new Error('down'))
    for (const each of await failing) expect(each).toMatchObject({ reason: { message: 'down' } })
    const second = next()
    const again = ask(1)
    const other = await second
    other.end()
    expect(await again).toBe(1)
  })

  it('that does not answer, nor notices that it is cancelled, is waited for no longer than allowed', async () => {
    const { ask } = open({ statementMs: 30 })
    await expect(ask(1)).rejects.toThrow('no answer within 30 ms')
  })
})

describe('bounds', () => {
  it('refuse at once what would wait too long, of one company before others', async () => {
    const { ask, next } = open({ waitingOfCompany: 2, waiting: 3 })
    const { signal } = new AbortController()
    const first = next()
    const answers = [ask(1), ask(2)]
    await expect(ask(3)).rejects.toThrow(TooManyAsked)
    // What is asked already needs no place.
    answers.push(ask(2))
    const other = ask(1, signal, 'b')
    await expect(ask(2, signal, 'b')).rejects.toThrow(TooManyAsked)
    const call = await first
    const second = next()
    call.end()
    expect(await Promise.all(answers)).toEqual([1, 4, 4])
    const last = await second
    last.end()
    await other
    const third = next()
    const later = ask(3)
    const free = await third
    free.end()
    expect(await later).toBe(9)
  })
})
