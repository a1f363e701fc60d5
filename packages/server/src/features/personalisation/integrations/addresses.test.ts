import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressesOf } from './addresses.ts'

const parts = { publicUrl: 'https://millrace.example', shortId: 'k3v9X1pQ0z', parameters: {}, profile: [] }

test('an integration without parameters has bare addresses', () => {
  expect(addressesOf(parts)).toEqual({
    display: 'https://millrace.example/r/k3v9X1pQ0z',
    click: 'https://millrace.example/r/k3v9X1pQ0z?mode=click',
  })
})

test.each([
  ['{{contact.id}}', '{{contact.id}}'],
  ['{{{contact.id}}}', '{{{contact.id}}}'],
  [`{{$${'{user_id}'}}}`, `{{$${'{user_id}'}}}`],
  ['{% if a %}', '{% if a %}'],
  ['%%EMAIL%%', '%%EMAIL%%'],
  ['%%=v(@id)=%%', '%%=v(@id)=%%'],
  ['%RECIPIENT_ID%', '%RECIPIENT_ID%'],
  ['*|UNIQID|*', '*|UNIQID|*'],
  ['[%id%]', '[%id%]'],
  ['[[id]]', '[[id]]'],
  ['$' + '{id}', '$' + '{id}'],
  ['<%= recipient.id %>', '<%= recipient.id %>'],
  ['a b&c={{id}}/é', 'a%20b%26c%3D{{id}}%2F%C3%A9'],
  ['{{}} {x} 100% %20 #', '%7B%7B%7D%7D%20%7Bx%7D%20100%25%20%2520%20%23'],
])('placeholders stay as they are: %s', (value, encoded) => {
  expect(addressesOf({ ...parts, parameters: { 'trk-u': value } }).display).toBe(
    `https://millrace.example/r/k3v9X1pQ0z?trk-u=${encoded}`,
  )
})

test('the profile gives the order and defaults, the integration its own values', () => {
  const { display, click } = addressesOf({
    ...parts,
    profile: [
      { name: 'trk-u', default: '{{id}}' },
      { name: 'utm_source', default: 'newsletter' },
      { name: 'utm_medium', default: 'email' },
      { name: 'utm_campaign' },
      { name: 'utm_term' },
    ],
    parameters: { city: 'Lyon', utm_campaign: 'spring', utm_source: 'shop', utm_medium: '' },
  })
  const query = 'trk-u={{id}}&utm_source=shop&utm_campaign=spring&city=Lyon'
  expect(display).toBe(`https://millrace.example/r/k3v9X1pQ0z?${query}`)
  expect(click).toBe(`https://millrace.example/r/k3v9X1pQ0z?${query}&mode=click`)
})

test('whatever a value without placeholders is, the address gives it back, and no other parameter', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 50 }).filter((each) => !/[{}%*[\]$<]/.test(each))
  fc.assert(
    fc.property(fc.dictionary(text, text, { maxKeys: 8 }), (parameters) => {
      const { searchParams, pathname } = new URL(addressesOf({ ...parts, parameters }).display)
      expect(pathname).toBe('/r/k3v9X1pQ0z')
      expect([...searchParams]).toEqual(Object.entries(parameters).filter(([, value]) => value !== ''))
    }),
  )
})
