import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Allowance, type Attempt, bucketsOf, defaultPolicy, waitFor } from './sign-in-throttle.ts'

const key = Buffer.alloc(32)
const allowance: Allowance = { free: 10, drainSeconds: 900, maxDelaySeconds: 900 }
const after = (failures: number, sinceLastFillSeconds = 0) =>
  waitFor({ key, filledSeconds: failures * allowance.drainSeconds, sinceLastFillSeconds }, allowance)

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

const attempt = { account: 'a', network: 'b', site: 'b', proof: undefined }
const scopes = (more: Partial<Attempt>) => {
  const { near, far } = bucketsOf({ ...attempt, ...more }, defaultPolicy)
  return [near, far].map((buckets) => buckets.map(({ scope }) => scope))
}

test('accounts and addresses cannot be written so that they count as others', () => {
  const keys = (account: string, network: string, proof?: Attempt['proof']) => {
    const { near, far } = bucketsOf({ account, network, site: 's', proof }, defaultPolicy)
    return [...near, ...far].map((bucket) => bucket.key.toString('hex'))
  }
  const session = (id: string) => ({ kind: 'session', id }) as const
  expect(keys('a\0b', 'c')[0]).not.toBe(keys('a', 'b\0c')[0])
  expect(keys('a', 'session')[0]).not.toBe(keys('a', 'y', session(''))[0])
  expect(keys('a', 'y', session('x'))).toEqual(keys('a', 'z', session('x')))
  expect(keys('a', 'y', session('x'))).not.toEqual(keys('a', 'y', { kind: 'device', id: 'x' }))
  expect(new Set(keys('a', 'a')).size).toBe(5)
})

test('a session and a browser of the account count alone', () => {
  for (const kind of ['session', 'device'] as const)
    expect(scopes({ proof: { kind, id: 's' } })).toEqual([['accountFromAddress'], []])
})

test('others count near and far, an IPv6 address with its site too', () => {
  const near = ['accountFromAddress', 'address']
  expect(scopes({})).toEqual([near, ['account', 'everything']])
  expect(scopes({ network: '2001:db8:1:2::/64', site: '2001:db8:1::/48' })).toEqual([
    near,
    ['site', 'account', 'everything'],
  ])
})
