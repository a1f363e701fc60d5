import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DomainError } from '../errors.ts'
import { parseFormBody } from './form-fields.ts'

const parse = (body: Buffer) =>
  parseFormBody(
    body,
    (path, { en }) => new DomainError('validation', { errors: [] }, { message: `${path} ${en}` }),
  )

test('reads what URLSearchParams writes', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'))
  fc.assert(
    fc.property(fc.dictionary(text, text, { noNullPrototype: true }), (fields) => {
      const body = new URLSearchParams(fields).toString()
      expect(Object.entries(parse(Buffer.from(body)))).toEqual(expect.arrayContaining(Object.entries(fields)))
    }),
  )
})

test('an empty body has no fields, and __proto__ is a name like others', () => {
  expect(parse(Buffer.from(''))).toEqual({})
  const fields = parse(Buffer.from('__proto__=x&a'))
  expect(Object.hasOwn(fields, '__proto__')).toBe(true)
  expect(fields.a).toBe('')
})

test.each([
  ['a name that comes twice', Buffer.from('a=1&b=2&a=1'), 'a is given twice'],
  ['bytes that are not UTF-8', Buffer.from([0x61, 0x3d, 0xff]), 'UTF-8'],
  ['encoded bytes that are not UTF-8', Buffer.from('a=%ff'), 'UTF-8'],
  ['a broken encoding', Buffer.from('a=%zz'), 'UTF-8'],
  ['U+0000', Buffer.from('a=%00'), 'U+0000'],
])('refuses %s', (_name, body, message) => {
  expect(() => parse(body)).toThrow(message)
})

test('refuses more fields than any client sends, for less than it costs to read them', async () => {
  const body = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `${i.toString(36)}=`).join('&'))
  const refuse = () => expect(() => parse(body)).toThrow('at most 100 fields')
  await expect(refuse).toCostAtMost(1, () => new URLSearchParams(body.toString()))
})
