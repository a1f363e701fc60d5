import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type AnswerUnderWay, createAnswerCache, isKept, type KeptAnswer } from './answer-cache.ts'

function open() {
  const clock = { time: 1, now: () => clock.time }
  const cache = createAnswerCache({ clock })
  return {
    clock,
    cache,
    async compute(key: string): Promise<AnswerUnderWay> {
      const found = await cache.find(key)
      if (isKept(found)) throw new Error('it is known')
      return found
    },
    async isKnown(key: string): Promise<boolean> {
      const found = await cache.find(key)
      if (isKept(found)) return true
      found.end()
      return false
    },
  }
}

const answer = (text = 'x'): KeptAnswer => ({ text, warnings: [] })

describe('the cache of answers', () => {
  it('gives an answer for ten seconds from when it was asked for', async () => {
    const { cache, clock, compute, isKnown } = open()
    const asked = await compute('a')
    clock.time = 4_000
    asked.end(answer('[]'))
    clock.time = 10_000
    expect(await cache.find('a')).toEqual(answer('[]'))
    expect(await isKnown('b')).toBe(false)
    clock.time = 10_001
    expect(await isKnown('a')).toBe(false)
  })

  it('lets those who ask the same wait for one of them', async () => {
    const { cache, compute } = open()
    const first = await compute('a')
    const others = [cache.find('a'), cache.find('a')]
    first.end(answer())
    expect(await Promise.all(others)).toEqual([answer(), answer()])
  })

  it('lets the next of them try when one gave up, and all fail when the question does', async () => {
    const { cache, compute } = open()
    const first = await compute('a')
    const [second, third] = [cache.find('a'), cache.find('a')]
    first.end()
    const next = await second
    if (isKept(next)) throw new Error('no answer')
    next.end(undefined, new Error('too slow'))
    next.end(answer())
    await expect(third).rejects.toThrow('too slow')
    expect(isKept(await cache.find('a'))).toBe(false)
  })

  it('does not keep those waiting who leave', async () => {
    const { cache, compute } = open()
    const first = await compute('a')
    const leaving = new AbortController()
    const other = cache.find('a', leaving.signal)
    await setImmediate()
    leaving.abort(new Error('left'))
    await expect(other).rejects.toThrow('left')
    await expect(cache.find('a', leaving.signal)).rejects.toThrow('left')
    first.end(answer())
    expect(await cache.find('a')).toEqual(answer())
  })

  it('holds 64 MiB, of answers of 1 MiB at most, and gives up the oldest', async () => {
    const { compute, isKnown } = open()
    const large = 'x'.repeat(512 * 1024)
    for (let i = 0; i < 65; i++) (await compute(`${i}`)).end(answer(large))
    expect(await isKnown('0')).toBe(false)
    expect(await isKnown('1')).toBe(true)
    expect(await isKnown('64')).toBe(true)
    ;(await compute('too large')).end(answer(`${large}x`))
    expect(await isKnown('too large')).toBe(false)
    expect(await isKnown('1')).toBe(true)
  })
})
