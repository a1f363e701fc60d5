import { expect, test } from 'vitest'
import { completeAddress, type PageContext } from './addresses.ts'

const context = (address = 'https://shop.example/boots', fields: Partial<PageContext> = {}): PageContext => ({
  page: new URL(address),
  visitor: { clientId: 'ada 1', tmpId: 'device' },
  entries: [],
  ...fields,
})
const display = 'https://millrace.example/r/k3v9X1pQ0z?own=1'
const settings = { shortId: 'k3v9X1pQ0z', kind: 'html', display, click: display } as const
const parametersOf = (address: string) => Object.fromEntries(new URL(address).searchParams)

test('an address gets the visitor and the page, and keeps its own parameters', () => {
  const page = 'https://shop.example/boots?own=2&a=1&mode=click'
  expect(parametersOf(completeAddress(display, settings, context(page)))).toEqual({
    own: '1',
    'trk-u': 'ada 1',
    'trk-t': 'device',
    'trk-referer': page,
  })
  const unknown = { clientId: '', tmpId: '' }
  expect(parametersOf(completeAddress(display, settings, context(undefined, { visitor: unknown })))).toEqual({
    own: '1',
    'trk-referer': 'https://shop.example/boots',
  })
})

test('the visitor stands in place of what a sending tool would have put there', () => {
  const address = `${display}&trk-u=${encodeURIComponent('{{contact.id}}')}`
  expect(parametersOf(completeAddress(address, settings, context()))).toMatchObject({ 'trk-u': 'ada 1' })
})

test('parameters of the page and values of the data layer go along where the settings say so', () => {
  const fields = { includeContext: true, includeDatalayerPath: ['user.segment', 'user.own', 'x.none'] }
  const entries = [{ user: { segment: 'gold', own: '3' } }]
  const completed = completeAddress(
    display,
    { ...settings, ...fields },
    context('https://shop.example/?a=1&a=2&own=2&mode=click', { entries }),
  )
  expect([...new URL(completed).searchParams.keys()].sort()).toEqual([
    'a',
    'own',
    'segment',
    'trk-referer',
    'trk-t',
    'trk-u',
  ])
  expect(parametersOf(completed)).toMatchObject({ own: '1', a: '1', segment: 'gold' })
})

test('what would make an address too long is left out', () => {
  const long = `https://shop.example/boots?long=${'x'.repeat(20_000)}&b=1`
  const completed = completeAddress(display, { ...settings, includeContext: true }, context(long))
  expect(completed.length).toBeLessThan(8_000)
  expect(parametersOf(completed)).toMatchObject({
    b: '1',
    'trk-u': 'ada 1',
    'trk-referer': 'https://shop.example/boots',
  })
})
