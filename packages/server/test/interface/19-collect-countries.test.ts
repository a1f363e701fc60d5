import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Reader } from 'mmdb-lib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type CountryDatabase,
  createCountryDatabase,
} from '../../src/features/events/collector/senders/country-database.ts'
import { isPublicAddress } from '../../src/platform/outgoing/public-addresses.ts'
import { times } from '../support/long.ts'
import { mmdbFile, type Networks } from '../support/mmdb.ts'

let directory: string
let included: CountryDatabase
const warnings: string[] = []
const logger = { warn: (_: object, message: string) => void warnings.push(message) } as never

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-countries-'))
  included = createCountryDatabase({ logger })
  await included.load()
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A database of the test's own. */
async function databaseOf(file: Buffer): Promise<CountryDatabase> {
  const path = join(directory, `${Math.random()}.mmdb`)
  writeFileSync(path, file)
  const database = createCountryDatabase({ file: path, logger })
  await database.load()
  return database
}

test.each([
  ['8.8.8.8', 'US'],
  ['193.0.6.139', 'NL'],
  ['90.0.0.1', 'FR'],
  ['133.11.0.1', 'JP'],
  ['200.221.11.100', 'BR'],
  ['::ffff:90.0.0.1', 'FR'],
])('%s is in %s', (address, country) => {
  expect(included.find(address)).toBe(country)
})

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.16.4.4',
  '192.168.1.1',
  '169.254.1.1',
  '100.64.0.1',
  '203.0.113.5',
  '224.0.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '::1',
  'fd00::1',
  'fe80::1%eth0',
  '2a01:e0a::1',
  '::ffff:192.168.1.1',
])('%s has no country', (address) => {
  expect(included.find(address)).toBe('')
})

test.each([
  '',
  'unknown',
  '90.0.0',
  '90.0.0.1.2',
  '90.0.0.256',
  '90..0.1',
  '90.0.0.1 ',
  '0090.0.0.1',
  '90.0.0.1:80',
])('%j is no address', (address) => {
  expect(included.find(address)).toBe('')
})

test('agrees with the library on every public address', () => {
  const require = createRequire(import.meta.url)
  const file = require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country-ipv4.mmdb')
  const reader = new Reader<never>(readFileSync(file))
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const record = reader.get(address) as { country_code: string } | null
      expect(included.find(address)).toBe(isPublicAddress(address) ? (record?.country_code ?? '') : '')
    }),
    { numRuns: times(3000, 300) },
  )
})

/** The bits of a network; behind 96 zeros in a tree of IPv6. */
function bitsOf(address: string, length: number, ipVersion: 4 | 6): string {
  const bits = address
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('')
  return (ipVersion === 6 ? '0'.repeat(96) : '') + bits.slice(0, length)
}

const forms = ([24, 28, 32] as const).flatMap((bits) =>
  ([4, 6] as const).map((version) => [bits, version] as const),
)

test.each(forms)('reads a database of %i bits and IPv%i', async (recordSize, ipVersion) => {
  const networks: Networks = {
    [bitsOf('5.0.0.0', 8, ipVersion)]: { country_code: 'FR' },
    [bitsOf('6.1.2.3', 32, ipVersion)]: { country: { iso_code: 'DE' } },
    [bitsOf('7.0.0.0', 9, ipVersion)]: { country: { iso_code: 'not one' } },
    [bitsOf('8.0.0.0', 8, ipVersion)]: { city: 'Paris' },
    [bitsOf('10.0.0.0', 8, ipVersion)]: { country_code: 'JP' },
  }
  const database = await databaseOf(mmdbFile(networks, recordSize, ipVersion))
  const found = ['5.255.0.1', '6.1.2.3', '6.1.2.4', '7.0.0.1', '8.0.0.1', '9.0.0.1', '10.0.0.1'].map(
    database.find,
  )
  expect(found).toEqual(['FR', 'DE', '', '', '', '', ''])
})

test('leaves countries empty where the file is none, and says so once', async () => {
  warnings.length = 0
  const missing = createCountryDatabase({ file: join(directory, 'missing'), logger })
  expect(missing.find('8.8.8.8')).toBe('')
  await missing.load()
  expect(missing.find('8.8.8.8')).toBe('')
  expect(warnings).toHaveLength(1)
  const noDatabase = await databaseOf(Buffer.from('no database'))
  expect(noDatabase.find('8.8.8.8')).toBe('')
  expect(warnings).toHaveLength(2)
  const whole = mmdbFile({ [bitsOf('8.0.0.0', 8, 4)]: { country_code: 'US' } }, 24, 4)
  // The tree ends before its last nodes.
  const torn = await databaseOf(Buffer.concat([whole.subarray(0, 6), whole.subarray(whole.length - 200)]))
  expect(torn.find('8.8.8.8')).toBe('')
  expect(torn.find('9.9.9.9')).toBe('')
  expect(warnings).toHaveLength(3)
})

test('answers before it is read, without a country', async () => {
  const database = createCountryDatabase({ logger })
  expect(database.find('8.8.8.8')).toBe('')
  await database.load()
  expect(database.find('8.8.8.8')).toBe('US')
})
