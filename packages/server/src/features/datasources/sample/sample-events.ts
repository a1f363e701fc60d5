import {
  agents,
  campaign,
  campaignOrigins,
  categories,
  crawler,
  firstOrigins,
  hours,
  laterOrigins,
  type Origin,
  type Product,
  places,
  products,
  reading,
  searches,
  weekdays,
} from './sample-shop.ts'

/** Events that one sender brings. */
export interface SampleSender {
  readonly userAgent: string
  readonly address: string
}

export interface SampleEvent {
  readonly sender: SampleSender
  readonly event: Readonly<Record<string, unknown>>
}

export interface SampleOptions {
  readonly companyId: string
  /** Begins every identifier, so that they meet those of no other sender. */
  readonly prefix: string
  /** Milliseconds since 1970-01-01 UTC; no event is later. */
  readonly end: number
}

export const sampleDays = 60
const dayMs = 86_400_000
const sessionsADay = 118
const site = 'https://shop.example'

interface Person {
  readonly device: string
  readonly sender: SampleSender
  readonly isPhone: boolean
  /** Of buying, beside others. */
  readonly zeal: number
  client: string | undefined
  lastSeen: number
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * The events of a shop over 60 days, session by session: weeks with their days, growth, persons who come again, a
 * campaign, and a few faults as real senders make them, so that the log has something to show. The same options give
 * the same events.
 */
export function* sampleEvents({ companyId, prefix, end }: SampleOptions): Generator<SampleEvent> {
  const random = createRandom(20_240_229)
  const chance = (share: number): boolean => random() < share
  const among = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const pick = <T extends { readonly weight: number }>(list: readonly T[]): T => {
    let left = random() * list.reduce((sum, { weight }) => sum + weight, 0)
    for (const each of list) {
      left -= each.weight
      if (left < 0) return each
    }
    return list[0] as T
  }
  const hourWeights = hours.map((weight, hour) => ({ weight, hour }))
  const persons: Person[] = []
  let events = 0
  let orders = 0
  let clients = 0

  function newPerson(at: number): Person {
    const { userAgent, isPhone } = pick(agents)
    const person = {
      device: `${prefix}-d${persons.length + 1}`,
      sender: { userAgent, address: pick(places).address },
      isPhone,
      zeal: 0.4 + random() * 1.2,
      client: undefined,
      lastSeen: at,
    }
    persons.push(person)
    return person
  }

  /** Somebody who was here, rather of late, if it can be. */
  function returning(at: number): Person | undefined {
    const known = persons[Math.floor(persons.length * (1 - random() ** 2.2))]
    return known && at - known.lastSeen > 3_600_000 ? known : undefined
  }

  function* session(start: number, isOfCampaign: boolean): Generator<SampleEvent> {
    const known = chance(0.44) ? returning(start) : undefined
    const person = known ?? newPerson(start)
    const origin: Origin = pick(isOfCampaign ? campaignOrigins : known ? laterOrigins : firstOrigins)
    let at = start
    let previous = origin.referrer
    const make = (name: string, path: string, data: Readonly<Record<string, unknown>> = {}): SampleEvent => {
      const event = {
        ...{ key: companyId, v: 1, name, url: `${site}${path}`, data, timestamp: at },
        ...{ tmpId: person.device, eventId: `${prefix}-e${++events}` },
        ...(person.client !== undefined && { clientId: person.client }),
        ...(previous !== undefined && { referrer: previous }),
      }
      previous = `${site}${path.replace(/\?.*/, '')}`
      at += 4_000 + Math.floor(random() ** 2 * 110_000)
      person.lastSeen = at
      return { sender: person.sender, event }
    }
    const tagged = (path: string) => (origin.tags === undefined ? path : `${path}?${origin.tags}`)
    const landing = isOfCampaign ? '/sale' : chance(0.5) ? '/' : `/${among(categories)}`
    yield make('page_view', tagged(landing))
    // Half of those who come leave again.
    if (chance(isOfCampaign ? 0.34 : known ? 0.28 : 0.46)) return
    if (chance(0.16))
      yield make('search', '/search', { query: among(searches), results: Math.floor(random() * 24) })
    if (chance(0.14)) yield make('page_view', among(reading))
    if (chance(0.025)) yield make('newsletter_signup', '/', { place: 'footer' })
    const basket: Product[] = []
    const wanted = 1 + Math.floor(random() ** 2 * 5)
    for (let i = 0; i < wanted; i++) {
      const product = pick(products)
      if (chance(0.6)) yield make('page_view', `/${product.category}`)
      const seen = { ids: [product.sku], category: product.category, price: product.price }
      yield make('product_view', product.path, seen)
      if (!chance(0.19 * person.zeal * (person.isPhone ? 0.8 : 1.15))) continue
      basket.push(product)
      yield make('add_cart', product.path, seen)
    }
    if (basket.length === 0 || !chance(0.62)) return
    yield make('checkout', '/checkout', { ids: basket.map(({ sku }) => sku) })
    if (!chance(person.isPhone ? 0.6 : 0.74)) return
    if (person.client === undefined) {
      person.client = `${prefix}-c${++clients}`
      // Binds the device: what it did before belongs to the buyer.
      yield make('identify', '/checkout')
    }
    yield* purchase(make, basket, isOfCampaign)
  }

  function* purchase(
    make: (name: string, path: string, data: Readonly<Record<string, unknown>>) => SampleEvent,
    basket: readonly Product[],
    isOfCampaign: boolean,
  ): Generator<SampleEvent> {
    const sum = basket.reduce((total, { price }) => total + price, 0) * (isOfCampaign ? 0.85 : 1)
    const value = Math.round(sum * 100) / 100
    orders++
    yield make('purchase', '/checkout/thanks', {
      // One in thirty forgets what it has known of types, one in eighty how to add.
      ids: orders % 30 === 0 ? orders * 101 : basket.map(({ sku }) => sku),
      value:
        orders % 80 === 0
          ? basket
              .map(({ price }) => price)
              .join(';')
              .concat(';0.00')
          : value,
      transId: `${prefix}-o${orders}`,
      payment: among(['card', 'card', 'paypal', 'invoice']),
      ...(isOfCampaign && { voucher: 'SEASON15' }),
    })
  }

  const firstDay = Math.floor(end / dayMs) * dayMs - (sampleDays - 1) * dayMs
  for (let day = 0; day < sampleDays; day++) {
    const from = firstDay + day * dayMs
    const before = sampleDays - 1 - day
    const hasCampaign = before <= campaign.from && before >= campaign.to
    const weekday = weekdays[new Date(from).getUTCDay()] ?? 1
    const usual = sessionsADay * weekday * (0.72 + (0.62 * day) / sampleDays) * (0.92 + random() * 0.16)
    const starts = (count: number, isOfCampaign: boolean) =>
      Array.from({ length: Math.round(count) }, () => ({
        at: from + pick(hourWeights).hour * 3_600_000 + Math.floor(random() * 3_600_000),
        isOfCampaign,
      }))
    const planned = [...starts(usual, false), ...starts(hasCampaign ? usual * campaign.extra : 0, true)]
    for (const { at, isOfCampaign } of planned.sort((a, b) => a.at - b.at)) {
      for (const made of session(at, isOfCampaign)) if (Number(made.event.timestamp) <= end) yield made
    }
    const visit = {
      key: companyId,
      v: 1,
      name: 'page_view',
      url: `${site}/`,
      data: {},
      tmpId: `${prefix}-bot`,
    }
    yield {
      sender: { userAgent: crawler, address: '66.249.64.1' },
      event: { ...visit, eventId: `${prefix}-b${day}`, timestamp: Math.min(from, end) },
    }
  }
}
