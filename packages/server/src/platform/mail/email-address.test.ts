import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseEmailAddress } from './email-address.ts'

test.each([
  ['Ada.Lovelace+x@Example.COM', 'ada.lovelace+x@example.com'],
  ['a@b', 'a@b'],
  ["o'brien@example.co.uk", "o'brien@example.co.uk"],
])('reads %s', (text, address) => {
  expect(parseEmailAddress(text)).toBe(address)
})

test.each([
  '',
  'ada',
  '@example.com',
  'ada@',
  ' ada@example.com',
  'ada@example.com ',
  'ada@example.com\0',
  'ada@example.com\n',
  'a@b@c',
  'ada@exa mple.com',
  'ada@-example.com',
  'ada@example..com',
  '"ada"@example.com',
  '\u212aim@example.com',
  'ad\u0131@example.com',
  'ada@ex\u00e4mple.com',
  '\uff41da@example.com',
  `${'a'.repeat(65)}@example.com`,
  `a@${'b'.repeat(60)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}.com`,
])('refuses %j', (text) => {
  expect(parseEmailAddress(text)).toBeUndefined()
})

test('whatever it reads is ASCII, in lower case, and read as itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.emailAddress(), fc.string({ unit: 'grapheme' })), (text) => {
      const address = parseEmailAddress(text)
      if (address === undefined) return
      expect(address).toMatch(/^[!-~]+$/)
      expect(address).toBe(address.toLowerCase())
      expect(parseEmailAddress(address)).toBe(address)
    }),
  )
})

test('a long text without an end is refused at the cost of one look at it', async () => {
  const long = 'a@'.repeat(500_000)
  expect(parseEmailAddress(long)).toBeUndefined()
  expect(parseEmailAddress(`a@${'a-'.repeat(120)}`)).toBeUndefined()
  await expect(() => parseEmailAddress(long)).toCostAtMost(2, () => long.split('@'))
})
