import type { StoredEvent } from './statistics-events.ts'
import { storedEvent } from './statistics-events.ts'

/** What a generated shop is like; each day of it is drawn from the same chances, but for `change`. */
export interface ShopOptions {
  readonly company: string
  readonly seed: number
  /** The day of the beginning, at midnight in UTC. */
  readonly from: string
  readonly days: number
  readonly visitsPerDay: number
  /** Multiplies a chance of buying. */
  readonly change?: (visit: { country: string; deviceType: string; day: number }) => number
}

const countries = { FR: 0.3, DE: 0.25, US: 0.2, ES: 0.12, IT: 0.08, NL: 0.05 }
const deviceTypes = { desktop: 0.5, mobile: 0.42, tablet: 0.08 }
/** From Sunday on. */
const weekdays = [0.7, 1.1, 1.05, 1, 1.05, 1.2, 0.9]
const day = 86_400_000

/** Visits and purchases of a shop: weekdays differ, days vary by more than Poisson's law, values are lognormal. */
export function generatedShop({
  company,
  seed,
  from,
  days,
  visitsPerDay,
  change = () => 1,
}: ShopOptions): StoredEvent[] {
  const random = mulberry(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const pick = (weights: Readonly<Record<string, number>>) => {
    let left = random()
    for (const [name, weight] of Object.entries(weights)) {
      left -= weight
      if (left < 0) return name
    }
    return Object.keys(weights)[0] ?? ''
  }
  const events: StoredEvent[] = []
  const begin = Date.parse(`${from}T00:00:00Z`)
  for (let index = 0; index < days; index++) {
    const start = begin + index * day
    const weekday = weekdays[new Date(start).getUTCDay()] ?? 1
    const mean = visitsPerDay * weekday * Math.exp(0.1 * normal() - 0.005)
    const visits = Math.round(mean + Math.sqrt(mean) * normal())
    for (let i = 0; i < visits; i++) {
      const [country, deviceType] = [pick(countries), pick(deviceTypes)]
      const time = start + Math.floor(random() * (day - 3_600_000))
      const person = `p-${seed}-${index}-${i}`
      const common = { company, tmpId: person, labels: { country }, deviceType }
      events.push(storedEvent({ ...common, time, eventId: `v-${person}` }))
      if (random() >= 0.1 * change({ country, deviceType, day: index })) continue
      events.push(
        storedEvent({
          ...common,
          name: 'purchase',
          time: time + 600_000,
          eventId: `b-${person}`,
          transId: `t-${person}`,
          value: Math.exp(3.5 + 0.7 * normal()).toFixed(2),
        }),
      )
    }
  }
  return events
}

/** Mulberry32: the same numbers for the same seed. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
