import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFilter, parsePath } from './filter.ts'
import { ScimRefusal } from './refusal.ts'

test.each([
  ['name.givenName', { name: 'name.givenname' }],
  ['emails[type eq "work"].value', { name: 'emails', where: { name: 'type', value: 'work' }, sub: 'value' }],
  ['Emails[ Primary EQ True ]', { name: 'emails', where: { name: 'primary', value: true } }],
  ['urn:ietf:params:scim:schemas:core:2.0:User:name.givenName', { name: 'name.givenname' }],
  [
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager',
    { name: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user:manager' },
  ],
  ['members[value eq "a\\"]b"]', { name: 'members', where: { name: 'value', value: 'a"]b' } }],
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
  'a[b eq "c" and d eq "e"]',
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
      expect(parseFilter(`userName eq ${JSON.stringify(value)}`)).toEqual({ name: 'username', value })
    }),
  )
})

test('takes no other text for a filter and never fails in another way', () => {
  const words = ['userName', 'eq', 'EQ', 'and', '"x"', '[', ']', '(', ' ', '"', '\\', '.value', 'true', '7']
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (parts) => {
      try {
        expect(typeof parseFilter(parts.join(' ')).value).toBe('string')
      } catch (error) {
        expect(error).toBeInstanceOf(ScimRefusal)
      }
    }),
  )
})
