import { describe, expect, test } from 'vitest'
import { createLanes } from './lanes.ts'

const never = new AbortController().signal

describe('lanes', () => {
  test('are given in the order of asking', async () => {
    const lanes = createLanes(1)
    const order: number[] = []
    const first = await lanes.take(1000, never)
    const others = [1, 2, 3].map((n) =>
      lanes.take(1000, never).then((release) => {
        order.push(n)
        release()
      }),
    )
    expect([lanes.running(), lanes.waiting(), lanes.takeNow()]).toEqual([1, 3, undefined])
    first()
    first()
    await Promise.all(others)
    expect(order).toEqual([1, 2, 3])
    expect([lanes.running(), lanes.waiting()]).toEqual([0, 0])
  })

  test('are not waited for longer than said', async () => {
    const lanes = createLanes(1)
    const release = lanes.takeNow()
    await expect(lanes.take(20, never)).rejects.toMatchObject({ code: 202 })
    expect(lanes.waiting()).toBe(0)
    release?.()
    expect(lanes.running()).toBe(0)
  })

  test('are given up by a caller who leaves', async () => {
    const lanes = createLanes(1)
    const release = lanes.takeNow()
    const abort = new AbortController()
    const taken = lanes.take(1000, abort.signal)
    abort.abort(new Error('gone'))
    await expect(taken).rejects.toThrow('gone')
    release?.()
    expect([lanes.running(), lanes.waiting()]).toEqual([0, 0])
  })
})
