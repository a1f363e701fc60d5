import { expect, it } from 'vitest'
import { watchInterfaceUse } from './interface-use.ts'

it('is in use for 30 s after its start, and after each request', () => {
  let now = 1_000
  const use = watchInterfaceUse({ now: () => now })
  now += 29_999
  expect(use.isNow()).toBe(true)
  now += 1
  expect(use.isNow()).toBe(false)
  use.note()
  expect(use.isNow()).toBe(true)
  now += 30_000
  expect(use.isNow()).toBe(false)
})
