import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsePath } from './filter/filter.ts'
import { readGroupPatch } from './group-attributes.ts'
import { readPatch } from './patch.ts'

const keysOf = (...objects: object[]) =>
  readPatch({ Operations: objects.map((value) => ({ op: 'replace', value })) })

const named = (count: number, prefix = '!') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 0]))

test('an operation without a path names 100 attributes at most, and all together 1,000', () => {
  expect(keysOf(named(100))).toHaveLength(100)
  expect(() => keysOf(named(101))).toThrow('at most 100 attributes, it names 101')
  expect(keysOf(...Array.from({ length: 10 }, () => named(100)))).toHaveLength(1_000)
  expect(() => keysOf(...Array.from({ length: 11 }, () => named(100)))).toThrow('at most 1000 attributes')
  expect(() => keysOf({ a: 1 }, { b: 1 }, named(101))).toThrow('Operations[2].value')
})

test('a value that is no object is refused as before it was counted', () => {
  for (const value of [null, undefined, 1, 'text'.repeat(100), [], Array.from({ length: 200 })])
    expect(() => readPatch({ Operations: [{ op: 'add', value }] }), String(value)).toThrow()
})

test('a key is read as a path is, and what is no path names nothing that is known', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'aZ0.:$- !"[]eq') }), (key) => {
      let path: unknown
      try {
        path = parsePath(key)
      } catch {
        path = undefined
      }
      const [step] = keysOf({ [key]: 0 })
      if (path === undefined) expect(step?.path.where).toBeUndefined()
      else expect(step?.path).toEqual(path)
    }),
  )
  expect(keysOf({ 'urn:ietf:params:scim:schemas:core:2.0:User:name.givenName': 'A' })[0]?.path).toEqual({
    name: 'name.givenname',
  })
})

test('attributes under the name of a core schema are those of the object, and are counted', () => {
  const schema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
  for (const key of [schema, schema.toUpperCase()])
    expect(keysOf({ a: 1, [key]: { DisplayName: 'x', b: 2 } }).map(({ path }) => path.name)).toEqual([
      'a',
      'displayname',
      'b',
    ])
  expect(() => keysOf({ [schema]: named(101) })).toThrow('at most 100 attributes, it names 101')
  for (const value of [null, 1, 'text', []]) expect(() => keysOf({ [schema]: value })).toThrow(schema)
  expect(keysOf({ [`${schema}x`]: { a: 1 } }).map(({ path }) => path.name)).toEqual([
    `${schema}x`.toLowerCase(),
  ])
})

test('I18: operations together name 50,000 members at most', () => {
  const members = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ value: i.toString(16).padStart(24, '0') }))
  const twice = (count: number) =>
    readGroupPatch({
      Operations: [
        { op: 'replace', path: 'members', value: members(count) },
        { op: 'remove', path: 'members', value: members(count) },
      ],
    })
  expect(twice(10).members).toMatchObject({ replace: true, add: new Set() })
  expect(() => twice(25_001)).toThrow('at most 50000 members together')
})
