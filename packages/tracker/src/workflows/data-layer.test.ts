import { describe, expect, test } from 'vitest'
import { entriesOf, valueAt, watchDataLayer } from './data-layer.ts'

describe('a value of the data layer', () => {
  const entries = [
    { user: { segment: 'gold', age: 3, list: [1] } },
    null,
    7,
    { user: { segment: null, ok: false } },
  ]
  test.each([
    ['user.segment', 'gold'],
    ['user.age', '3'],
    ['user.ok', 'false'],
    ['user.list', undefined],
    ['user.none.at.all', undefined],
    ['user', undefined],
    ['toString', undefined],
    ['__proto__.polluted', undefined],
  ])('%s is %j', (path, value) => {
    expect(valueAt(entries, path)).toBe(value)
  })

  test('is nothing on a page without one', () => {
    expect(entriesOf({})).toEqual([])
    expect(entriesOf({ dataLayer: 'text' })).toEqual([])
  })
})

describe('events of the data layer', () => {
  function watching(page: { dataLayer?: unknown }) {
    let heard = 0
    const layer = watchDataLayer(page, () => heard++)
    layer.watch()
    return { layer, heard: () => heard }
  }

  test('count from before and from now on, in both forms', () => {
    const page = { dataLayer: [{ event: 'early' }] as unknown[] }
    const { layer, heard } = watching(page)
    expect(layer.sawOneOf(['early'])).toBe(true)
    expect(layer.sawOneOf(['login', 'consent'])).toBe(false)
    expect(page.dataLayer.push(null, { event: 'login' })).toBe(3)
    expect(layer.sawOneOf(['login', 'consent'])).toBe(true)
    ;((...words: unknown[]) => page.dataLayer.push(words))('event', 'tagged', {})
    expect(layer.sawOneOf(['tagged'])).toBe(true)
    expect(heard()).toBe(2)
  })

  test('are heard by two scripts, whichever came first', () => {
    const page = { dataLayer: [] as unknown[] }
    const [first, second] = [watching(page), watching(page)]
    page.dataLayer.push({ event: 'login' })
    page.dataLayer.push({ event: 'logout' })
    for (const { layer } of [first, second]) expect(layer.sawOneOf(['logout'])).toBe(true)
  })

  test('are heard of a list that is put in the place of the first, and each list is wrapped once', () => {
    const page: { dataLayer?: unknown[] } = {}
    const { layer, heard } = watching(page)
    page.dataLayer = [{ event: 'a' }]
    layer.watch()
    layer.watch()
    expect(layer.sawOneOf(['a'])).toBe(true)
    page.dataLayer.push({ event: 'b' })
    expect(heard()).toBe(1)
  })

  test('of a page that nothing can be read from or put into throw nothing into it', () => {
    const page: { dataLayer: unknown[] } = { dataLayer: [] }
    const { layer, heard } = watching(page)
    const hostile = {
      get event(): string {
        throw new Error('of the page')
      },
    }
    expect(page.dataLayer.push(hostile, { event: {} }, { event: 'login' })).toBe(3)
    expect(layer.sawOneOf(['login'])).toBe(true)
    expect(heard()).toBe(1)
    const frozen = watching({ dataLayer: Object.freeze([hostile, { event: 'early' }]) as unknown[] })
    expect(frozen.layer.sawOneOf(['early'])).toBe(true)
    expect(() => watching(Object.freeze({}))).not.toThrow()
  })
})
