import { describe, expect, test } from 'vitest'
import { createFixedWindow, createSlidingWindow } from './window.ts'

function movableClock(now = 0) {
  const clock = { now: () => now }
  return { clock, move: (ms: number) => (now += ms) }
}

describe('a fixed window', () => {
  test('counts each key up to its maximum and begins anew with the next window', () => {
    const { clock, move } = movableClock(60_000)
    const window = createFixedWindow(clock, 60_000)
    expect(['a', 'a', 'b', 'a'].map((key) => window.take(key, 2))).toEqual([0, 0, 0, 60])
    move(59_001)
    expect(window.take('a', 2)).toBe(1)
    move(999)
    expect(window.take('a', 2)).toBe(0)
  })

  test('bounds all keys together, and what was refused took no room', () => {
    const { clock } = movableClock()
    const window = createFixedWindow(clock, 1000, 3)
    expect(['a', 'a', 'b', 'c', 'd'].map((key) => window.take(key, 1))).toEqual([0, 1, 0, 0, 1])
  })
})

describe('a sliding window', () => {
  test('has room again when the oldest of its attempts is as old as the window', () => {
    const { clock, move } = movableClock()
    const window = createSlidingWindow(clock, 10_000, 2)
    expect(window.take('a')).toBe(0)
    move(4_000)
    expect(window.take('a')).toBe(0)
    expect(window.take('a')).toBe(6)
    expect(window.take('b')).toBe(0)
    move(5_999)
    expect(window.take('a')).toBe(1)
    move(1)
    expect(window.take('a')).toBe(0)
    expect(window.take('a')).toBe(4)
  })
})
