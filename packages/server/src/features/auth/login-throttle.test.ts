import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Allowance, bucketsOf, defaultPolicy, waitFor } from './login-throttle.ts'

const key = Buffer.alloc(32)
const allowance: Allowance = { free: 10, drainSeconds: 900, longestDelaySeconds: 900 }
const after = (failures: number, sinceLastFailureSeconds = 0) =>
  waitFor({ key, filledSeconds: failures * allowance.drainSeconds, sinceLastFailureSeconds }, allowance)

test('the wait is nothing below the free failures, then doubles from a second to a quarter of an hour', () => {
  expect([0, 1, 9, 10, 11, 12, 19, 20, 1000].map((failures) => after(failures))).toEqual([
    0, 0, 0, 1, 2, 4, 512, 900, 900,
  ])
})

test('the wait passes with time', () => {
  expect(after(12, 3)).toBe(1)
  expect(after(12, 4)).toBe(0)
})

test('more failures never mean a shorter wait', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 5, noNaN: true }),
      (n, more) => {
        expect(after(n + more)).toBeGreaterThanOrEqual(after(n))
      },
    ),
  )
})

test('accounts and addresses cannot be written so that they count as others', () => {
  const keys = (account: string, address: string, sessionId?: string) =>
    bucketsOf({ account, address, sessionId, isFamiliar: false }, defaultPolicy).map((bucket) =>
      bucket.key.toString('hex'),
    )
  expect(keys('a\0b', 'c')[0]).not.toBe(keys('a', 'b\0c')[0])
  expect(keys('a', 'session')[0]).not.toBe(keys('a', 'y', 'session')[0])
  expect(keys('a', 'y', 'x')).toEqual(keys('a', 'z', 'x'))
  expect(new Set(keys('a', 'a')).size).toBe(4)
})

test('a session counts alone, and where the owner has one only nearby failures count', () => {
  const scopes = (attempt: { sessionId: string | undefined; isFamiliar: boolean }) =>
    bucketsOf({ account: 'a', address: 'b', ...attempt }, defaultPolicy).map(({ scope }) => scope)
  expect(scopes({ sessionId: 's', isFamiliar: true })).toEqual(['accountFromAddress'])
  expect(scopes({ sessionId: undefined, isFamiliar: true })).toEqual(['accountFromAddress', 'address'])
  expect(scopes({ sessionId: undefined, isFamiliar: false })).toEqual([
    'accountFromAddress',
    'address',
    'account',
    'everything',
  ])
})
