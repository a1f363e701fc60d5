import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ScimRefusal } from '../refusal.ts'
import { type Filter, parseFilter, parsePath } from './filter.ts'

const equals = (name: string, value: string | boolean): Filter => ({
  kind: 'compare',
  name,
  operator: 'eq',
  value,
})

test.each([
  ['name.givenName', { name: 'name.givenname' }],
  ['emails[type eq "work"].value', { name: 'emails', where: equals('type', 'work'), sub: 'value' }],
  ['Emails[ Primary EQ True ]', { name: 'emails', where: equals('primary', true) }],
  [
    'a[b eq "c" and not (d pr)]',
    {
      name: 'a',
      where: {
        kind: 'and',
        filters: [equals('b', 'c'), { kind: 'not', filter: { kind: 'present', name: 'd' } }],
      },
    },
  ],
  ['urn:ietf:params:scim:schemas:core:2.0:User:name.givenName', { name: 'name.givenname' }],
  [
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager',
    { name: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user:manager' },
  ],
  ['members[value eq "a\\"]b"]', { name: 'members', where: equals('value', 'a"]b') }],
])('reads the path %s', (text, path) => {
  expect(parsePath(text)).toEqual(path)
})

test.each([
  '',
  'a b',
  'a[',
  'a[]',
  'a[b]',
  'a[b eq]',
  'a[b eq "c"',
  'a[b eq "c" and]',
  'a[b[c eq "d"]]',
  'a[b eq "\\u0000"]',
  'a[b eq "\\ud800"]',
  'a[0]',
  'a]',
  '"a"',
  'é',
])('refuses the path %j', (text) => {
  expect(() => parsePath(text)).toThrow(expect.objectContaining({ scimType: 'invalidPath' }))
})

test('reads every filter that compares an attribute with a text, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (value) => {
      const text = `userName eq ${JSON.stringify(value)}`
      if (value.includes('\0')) expect(() => parseFilter(text)).toThrow('U+0000')
      else expect(parseFilter(text)).toEqual(equals('username', value))
    }),
  )
})

const [a, b, c] = [equals('a', '1'), equals('b', '2'), equals('c', '3')]
const all = (...filters: Filter[]): Filter => ({ kind: 'and', filters })
const any = (...filters: Filter[]): Filter => ({ kind: 'or', filters })

test.each<[string, Filter]>([
  ['a eq "1" or b eq "2" and c eq "3"', any(a, all(b, c))],
  ['(a eq "1" or b eq "2") AND c eq "3"', all(any(a, b), c)],
  ['not(a eq "1") and b eq "2"', all({ kind: 'not', filter: a }, b)],
  ['a PR', { kind: 'present', name: 'a' }],
  ['a ne null', { kind: 'compare', name: 'a', operator: 'ne', value: null }],
  ['x[a eq "1" or b eq "2"]', { kind: 'values', name: 'x', filter: any(a, b) }],
  ['x[a eq "1"].b eq "2"', { kind: 'values', name: 'x', filter: all(a, b) }],
  ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:a eq "1"', a],
])('reads the filter %s', (text, filter) => {
  expect(parseFilter(text)).toEqual(filter)
})

/** Any filter, with a text that says it. */
const anyFilter = fc.letrec<{ filter: [string, Filter] }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<[string, Filter]>(['a eq "1"', a], ['b eq "2"', b], ['c eq "3"', c]),
    fc
      .tuple(tie('filter'), tie('filter'), fc.constantFrom('and' as const, 'or' as const))
      .map(([[left, first], [right, second], kind]): [string, Filter] => [
        `(${left}) ${kind} (${right})`,
        { kind, filters: [first, second] },
      ]),
    tie('filter').map(([text, filter]): [string, Filter] => [`not (${text})`, { kind: 'not', filter }]),
  ),
}))

test('reads what filters within filters say', () => {
  fc.assert(
    fc.property(anyFilter.filter, ([text, filter]) => {
      fc.pre(text.length <= 2_000 && text.split(' eq ').length <= 32)
      expect(parseFilter(text)).toEqual(filter)
    }),
  )
})

test('bounds depth and the number of comparisons', () => {
  const deep = (levels: number) => `${'('.repeat(levels)}a eq "1"${')'.repeat(levels)}`
  const long = (count: number) => Array(count).fill('a eq "1"').join(' or ')
  expect(parseFilter(deep(16))).toEqual(a)
  expect(() => parseFilter(deep(17))).toThrow('nests deeper than 16 levels')
  expect(parseFilter(long(32))).toMatchObject({ kind: 'or' })
  expect(() => parseFilter(long(33))).toThrow('more than 32 times')
})

test('takes no other text for a filter and never fails in another way', () => {
  const words = [
    'userName',
    'eq',
    'EQ',
    'and',
    'not',
    '"x"',
    '[',
    ']',
    '(',
    ')',
    ' ',
    '"',
    '\\',
    '.value',
    'true',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (parts) => {
      try {
        expect(typeof parseFilter(parts.join(' ')).kind).toBe('string')
      } catch (error) {
        expect(error).toBeInstanceOf(ScimRefusal)
      }
    }),
  )
})
