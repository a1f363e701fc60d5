import { type StoredEvent, storedEvent, testDatasource } from './statistics-events.ts'

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const sampleNames = [
  'page_view',
  'product_page',
  'add_cart',
  'purchase',
  'purchase_references',
  'identify',
  'é "x"',
] as const
export const sampleItems = ['SKU-1', 'SKU-2', 'sku-1', "O'Brien", 'ä;b', '%_\\', 'ΟΔΟΣ', 'İstanbul'] as const
export const sampleLabels = {
  store: ['Paris', 'Berlin', 'paris', '', '=', 'Straße', 'ÉTÉ οδος'],
  size: ['9', '10', '-3.5', 'XL', '1e2', 'inf', 'NaN', '1e999', '0x10'],
} as const
export const samplePeople = 40

const sampleOrigins = [
  'https://Shop.example',
  'http://user@localhost:8080',
  '//cdn.example',
  'app://',
  'screen',
  'Menu: a',
  'x/y://z',
  '',
]
const sampleQueryStrings = [
  '',
  '?utm_source=News+letter&x=1',
  '?a=/b&utm_medium=e%C3%A9',
  '#top',
  '#utm_source=fragment',
  '?utm_medium=mail#?utm_medium=fragment&utm_source=fragment',
]

/**
 * Events of some weeks around both changes of the clock of 2026 in Europe, with everything that the model
 * distinguishes: bound and unbound devices, orders of several events, repeated identifiers, absent values,
 * gaps of exactly half an hour.
 */
export function sampleEvents(company: string, count: number): StoredEvent[] {
  const random = seeded(7)
  const upTo = (n: number) => Math.floor(random() * n)
  const oneOf = <T>(values: readonly T[]): T => values[upTo(values.length)] as T
  const begins = [Date.parse('2026-03-26T00:00:00Z'), Date.parse('2026-10-22T00:00:00Z')]
  const times = new Set<number>()
  while (times.size < count) {
    // Half of the times lie on quarters of an hour, so that gaps of 30:00 and bounds of ranges occur.
    const time = oneOf(begins) + upTo(6 * 96) * 900_000 + (random() < 0.5 ? 0 : upTo(900_000))
    times.add(time)
  }
  return [...times].map((time, i) => {
    const name = oneOf(sampleNames)
    const person = Math.floor(random() ** 2 * samplePeople)
    const known = person % 3 === 0 && random() < 0.7
    const order = name.startsWith('purchase') && random() < 0.8
    const labels: Record<string, string> = {}
    if (random() < 0.7) labels.store = oneOf(sampleLabels.store)
    if (random() < 0.5) labels.size = oneOf(sampleLabels.size)
    return storedEvent({
      company,
      datasource: random() < 0.8 ? testDatasource : '65c8a1b2d3e4f5061728394b',
      time,
      eventId: `sample-${i}`,
      name,
      url: `${oneOf(sampleOrigins)}${oneOf(['', '/', '/a/b', '/p/1'])}${oneOf(sampleQueryStrings)}`,
      tmpId: `device-${person}-${upTo(2)}`,
      clientId: known || (name === 'identify' && person % 4 !== 0) ? `client-${person}` : '',
      ids: Array.from({ length: upTo(4) }, () => oneOf(sampleItems)),
      value: name === 'purchase' && random() < 0.9 ? (upTo(100_000) / 100 - 50).toFixed(2) : null,
      transId: order ? `order-${upTo(count / 10)}` : '',
      labels,
      deviceType: oneOf(['desktop', 'mobile', 'server']),
      os: oneOf(['Windows', 'iOS', '']),
      browser: oneOf(['Chrome', 'Safari', '']),
      referrerHost: ['', 'www.search.example', 'news.example'][i % 3] ?? '',
      country: ['FR', '', 'DE', 'JP'][i % 4] ?? '',
    })
  })
}
