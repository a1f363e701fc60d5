import fc from 'fast-check'
import { expect, test } from 'vitest'
import { networkOf, siteOf } from './network-address.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['', 'unknown'],
  ['localhost', 'unknown'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test('only the first half of an IPv6 address counts', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
      const hex = groups.map((group) => group.toString(16))
      expect(networkOf(hex.join(':'))).toBe(`${hex.slice(0, 4).join(':')}::/64`)
      expect(networkOf(`${hex.slice(0, 4).join(':')}::1`)).toBe(networkOf(hex.join(':')))
    }),
  )
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8:1:ffff::9', '2001:db8:1::/48'],
  ['', 'unknown'],
])('%s belongs to the site %s', (address, site) => {
  expect(siteOf(address)).toBe(site)
})
