import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import { emailAddress, id, longText, nameText } from './formats.ts'

const isId = Compile(id('An identifier'))

test.each([
  ['lower case', '65f0c0ffee5ca1ab1e0ddba1', true],
  ['upper case', '65F0C0FFEE5CA1AB1E0DDBA1', true],
  ['23 characters', '65f0c0ffee5ca1ab1e0ddba', false],
  ['25 characters', '65f0c0ffee5ca1ab1e0ddba12', false],
  ['another letter', '65f0c0ffee5ca1ab1e0ddbag', false],
  ['a final line feed', '65f0c0ffee5ca1ab1e0ddba1\n', false],
  ['full-width digits', '６５f0c0ffee5ca1ab1e0ddba1', false],
  ['nothing', '', false],
])('an id with %s: %s is accepted: %s', (_case, text, accepted) => {
  expect(isId.Check(text)).toBe(accepted)
})

const isName = Compile(nameText('A name'))

test.each([
  ['words', 'Purchases by day', true],
  ['markup, kept as it is', '<img onerror=x>', true],
  ['200 emoji, counted as characters', '🙂'.repeat(200), true],
  ['201 characters', 'x'.repeat(201), false],
  ['nothing', '', false],
  ['spaces only', '  \u00a0', false],
  ['U+0000', 'a\u0000b', false],
  ['a line feed', 'a\nb', false],
  ['half of a surrogate pair', 'a\ud800', false],
])('a name of %s', (_case, text, accepted) => {
  expect(isName.Check(text)).toBe(accepted)
})

test('validates a name of a million characters in linear time', async () => {
  const isLong = Compile(nameText('A name', 1_000_000))
  for (const text of [' '.repeat(1_000_000), `${'x '.repeat(499_999)}\u0001`]) {
    await expect(() => expect(isLong.Check(text)).toBe(false)).toCostAtMost(20, () => [...text])
  }
})

test('a long text may have lines and tabs, and no other control character', () => {
  const isText = Compile(longText('A text'))
  expect(isText.Check('a\r\n\tb')).toBe(true)
  expect(isText.Check('a\u001b[31m')).toBe(false)
})

const isAddress = Compile(emailAddress('An address'))

test.each([
  ['ada@example.com', true],
  ['ada+shop@sub.example.co.uk', true],
  ["o'hara@example.com", true],
  ['ada@bücher.example', true],
  ['ada', false],
  ['ada@', false],
  ['@example.com', false],
  ['a@b@c.example', false],
  ['ada@example.com,eve@example.com', false],
  ['ada@example.com\r\nBcc: eve@example.com', false],
  ['"eve@example.org x"@example.com', false],
  ['ada(comment)@example.com', false],
  ['Ada <ada@example.com>', false],
])('%s as an address: %s', (text, accepted) => {
  expect(isAddress.Check(text)).toBe(accepted)
})
