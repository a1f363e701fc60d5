import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createQueryLimiter } from './query-limiter.ts'

describe('the limiter', () => {
  it('lets four run and two hundred wait, and refuses the rest with Retry-After', async () => {
    const limiter = createQueryLimiter()
    let entered = 0
    const places = Array.from({ length: 204 }, async () => {
      const leave = await limiter.enter('a')
      entered++
      return leave
    })
    await setImmediate()
    expect(entered).toBe(4)
    await expect(limiter.enter('a')).rejects.toMatchObject({
      errorName: 'tooManyRequests',
      retryAfterSeconds: 2,
    })
    for (const place of places) (await place)()
    expect(entered).toBe(204)
    ;(await limiter.enter('a'))()
  })

  it('does not make another company wait', async () => {
    const limiter = createQueryLimiter({ running: 1, waiting: 0 })
    await limiter.enter('a')
    await expect(limiter.enter('a')).rejects.toThrow('ask again')
    await limiter.enter('b')
  })

  it('gives places in the order of arrival, once each', async () => {
    const limiter = createQueryLimiter({ running: 1, waiting: 5 })
    const leave = await limiter.enter('a')
    const order: number[] = []
    const [first, second] = [1, 2].map(async (i) => {
      const next = await limiter.enter('a')
      order.push(i)
      return next
    })
    leave()
    leave()
    await setImmediate()
    expect(order).toEqual([1])
    ;(await first)?.()
    await second
    expect(order).toEqual([1, 2])
  })

  it('forgets who leaves while waiting', async () => {
    const limiter = createQueryLimiter({ running: 1, waiting: 1 })
    const leave = await limiter.enter('a')
    const leaving = new AbortController()
    const waiting = limiter.enter('a', leaving.signal)
    leaving.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    const next = limiter.enter('a')
    leave()
    ;(await next)()
    await expect(limiter.enter('a', leaving.signal)).rejects.toThrow('left')
  })

  it('gives the users of a company turns, whichever came first and asks most', async () => {
    const limiter = createQueryLimiter({ running: 2, waiting: 100 })
    const order: string[] = []
    const ask = async (user: string) => {
      const leave = await limiter.enter('a', undefined, user)
      order.push(user)
      await setImmediate()
      leave()
    }
    await Promise.all([...Array(40).fill('ada'), ...Array(3).fill('bob'), ...Array(3).fill('eve')].map(ask))
    expect(order).toHaveLength(46)
    // Both of the first places were free for the first user; then each gets every third turn.
    expect(order.slice(2, 11).toSorted()).toEqual([
      ...Array(3).fill('ada'),
      ...Array(3).fill('bob'),
      ...Array(3).fill('eve'),
    ])
  })

  it('lets sixty of one user wait, while others have places', async () => {
    const limiter = createQueryLimiter()
    const places = Array.from({ length: 64 }, () => limiter.enter('a', undefined, 'ada'))
    await expect(limiter.enter('a', undefined, 'ada')).rejects.toMatchObject({
      errorName: 'tooManyRequests',
      message: '60 queries of yours wait already: ask again shortly',
    })
    const other = limiter.enter('a', undefined, 'bob')
    ;(await places[0])?.()
    ;(await other)()
    for (const place of places) (await place)()
    ;(await limiter.enter('a', undefined, 'ada'))()
  })
})
