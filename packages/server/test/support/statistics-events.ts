/** One collected event as the store keeps it; every field that a test does not mention has a plain value. */
export interface StoredEvent {
  readonly company: string
  readonly datasource: string
  /** Milliseconds since 1970. */
  readonly time: number
  readonly eventId: string
  readonly name: string
  readonly url: string
  /** Empty where the event has none; so are `clientId`, `transId`, `os`, `browser` and `country`. */
  readonly referrerHost: string
  readonly tmpId: string
  readonly clientId: string
  readonly ids: readonly string[]
  /** Decimal text with at most two decimals. */
  readonly value: string | null
  readonly transId: string
  readonly labels: Readonly<Record<string, string>>
  readonly deviceType: string
  readonly os: string
  readonly browser: string
  readonly country: string
}

export const testCompany = '64b7f0a1c2d3e4f5a6b7c8d9'
export const otherCompany = '64b7f0a1c2d3e4f5a6b7c8da'
export const testDatasource = '65c8a1b2d3e4f5061728394a'

let made = 0

export function storedEvent(fields: Partial<StoredEvent> & { readonly at?: string } = {}): StoredEvent {
  const { at, ...given } = fields
  made++
  return {
    company: testCompany,
    datasource: testDatasource,
    time: Date.parse(at ?? '2026-03-10T12:00:00Z'),
    eventId: `event-${made}`,
    name: 'page_view',
    url: 'https://shop.example/',
    referrerHost: '',
    tmpId: 'device-1',
    clientId: '',
    ids: [],
    value: null,
    transId: '',
    labels: {},
    deviceType: 'desktop',
    os: 'Linux',
    browser: 'Firefox',
    country: '',
    ...given,
  }
}
