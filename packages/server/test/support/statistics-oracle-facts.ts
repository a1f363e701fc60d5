import type { StoredEvent } from './statistics-events.ts'

/** One row of a source, with the value of every dimension, as the oracle sees it. */
export interface Fact {
  readonly time: number
  readonly person: string
  readonly identified: boolean
  readonly device: string
  readonly items: readonly string[]
  /** Cents; of purchases. */
  readonly value: bigint
  /** Of sessions. */
  readonly session?: { readonly seconds: number; readonly events: number; readonly isNew: boolean }
  readonly texts: ReadonlyMap<string, string | null>
}

function personsOf(
  events: readonly StoredEvent[],
): (event: StoredEvent) => { person: string; identified: boolean } {
  const bindings = events
    .filter(({ name, clientId }) => name === 'identify' && clientId !== '')
    .sort((a, b) => a.time - b.time || (a.clientId < b.clientId ? -1 : 1))
  const bound = new Map(bindings.map(({ tmpId, clientId }) => [tmpId, clientId]))
  return (event) => {
    const client = event.clientId || bound.get(event.tmpId)
    return { person: client ?? event.tmpId, identified: client !== undefined }
  }
}

/**
 * Parts of an address by one regular expression (RFC 3986, appendix B); without `//` it is a screen of an app, whose
 * path is all of it but query and fragment.
 */
export function addressParts(url: string): Record<string, string | null> {
  const match = /^(?:[^:/?#]+:)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(url)
  const authority = match?.[1]
  const host = authority?.replace(/^.*@/, '').replace(/:\d*$/, '').toLowerCase()
  const path = match?.[2] ?? ''
  const parts: Record<string, string | null> = {
    host: host || null,
    path: authority === undefined ? url.replace(/[?#].*$/s, '') || null : path || '/',
  }
  for (const name of ['Source', 'Medium', 'Campaign', 'Term', 'Content']) {
    const parameter = (match?.[3] ?? '')
      .split('&')
      .find((each) => each.startsWith(`utm_${name.toLowerCase()}=`))
    const text = parameter?.slice(parameter.indexOf('=') + 1).replaceAll('+', ' ')
    parts[`utm${name}`] = text ? decodeURIComponent(text) : null
  }
  return parts
}

export function eventFacts(events: readonly StoredEvent[]): Fact[] {
  const personOf = personsOf(events)
  return events.map((event) => {
    const { person, identified } = personOf(event)
    return {
      time: event.time,
      person,
      identified,
      device: event.tmpId,
      items: event.ids,
      value: 0n,
      texts: new Map<string, string | null>([
        ['name', event.name],
        ['datasource', event.datasource],
        ['url', event.url],
        ...Object.entries(addressParts(event.url)),
        ['person', person],
        ['device', event.tmpId],
        ['deviceType', event.deviceType],
        ['os', event.os || null],
        ['browser', event.browser || null],
        ['referrerHost', event.referrerHost || null],
        ['country', event.country || null],
        ...Object.entries(event.labels).map(([key, text]): [string, string] => [`label.${key}`, text]),
      ]),
    }
  })
}

export function purchaseFacts(events: readonly StoredEvent[]): Fact[] {
  const personOf = personsOf(events)
  const orders = new Map<string, StoredEvent[]>()
  for (const event of events) {
    if (event.name !== 'purchase' && event.name !== 'purchase_references') continue
    const key = event.transId === '' ? `event ${event.datasource} ${event.eventId}` : `order ${event.transId}`
    orders.set(key, [...(orders.get(key) ?? []), event])
  }
  return [...orders.values()].map((order) => {
    // Test events of one order never share an instant.
    const pieces = order.sort((a, b) => a.time - b.time)
    const [first] = pieces
    if (!first) throw new Error('an order has events')
    const buyer = personOf(pieces.find((each) => personOf(each).identified) ?? first)
    const valued = pieces.find(({ name, value }) => name === 'purchase' && value !== null)
    const withIds = pieces.filter(({ ids }) => ids.length > 0)
    const listed = withIds.find(({ name }) => name === 'purchase_references') ?? withIds[0]
    return {
      time: first.time,
      ...buyer,
      device: first.tmpId,
      items: listed?.ids ?? [],
      value: centsOf(valued?.value ?? '0'),
      texts: new Map<string, string | null>([
        ['transaction', first.transId || null],
        ['person', buyer.person],
        ['datasource', first.datasource],
        ['deviceType', first.deviceType],
        ['os', first.os || null],
        ...pieces
          .toReversed()
          .flatMap(({ labels }) =>
            Object.entries(labels).map(([key, text]): [string, string] => [`label.${key}`, text]),
          ),
      ]),
    }
  })
}

function centsOf(value: string): bigint {
  const [whole = '0', fraction = ''] = value.replace('-', '').split('.')
  const cents = BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'))
  return value.startsWith('-') ? -cents : cents
}
