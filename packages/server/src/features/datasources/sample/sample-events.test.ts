import { isPlaceholder } from '@millrace/contract/events/placeholders.ts'
import { validateEvent } from '@millrace/contract/events/validate.ts'
import { describe, expect, test } from 'vitest'
import { type SampleEvent, sampleDays, sampleEvents } from './sample-events.ts'

const companyId = '65f0c0ffee5ca1ab1e0ddba1'
const end = Date.UTC(2026, 0, 31, 17, 30)
const make = (prefix = 'sample-a', at = end) => [...sampleEvents({ companyId, prefix, end: at })]
const events = make()

const dayOf = ({ event }: SampleEvent) => new Date(Number(event.timestamp)).toISOString().slice(0, 10)
const named = (name: string) => events.filter(({ event }) => event.name === name)
const counted = (list: readonly string[]) => Map.groupBy(list, (each) => each)

describe('the sample shop', () => {
  test('is the same each time, with identifiers of its own for each datasource', () => {
    expect(make()).toEqual(events)
    const ids = new Set(make('sample-b').map(({ event }) => event.eventId))
    expect(ids.size).toBe(events.length)
    expect(events.some(({ event }) => ids.has(event.eventId))).toBe(false)
  })

  test('has about 30,000 events of 60 days that end now', () => {
    expect(events.length).toBeGreaterThan(27_000)
    expect(events.length).toBeLessThan(34_000)
    expect(Math.max(...events.map(({ event }) => Number(event.timestamp)))).toBeLessThanOrEqual(end)
    expect(counted(events.map(dayOf)).size).toBe(sampleDays)
    expect(counted(make('sample-a', end + 6.5 * 3_600_000).map(dayOf)).size).toBe(sampleDays)
  })

  test('is kept by the rules but for the faults that it shows', () => {
    const results = events.map(({ event }) => validateEvent(event, { companyId, receivedAt: end }))
    const dropped = results.flatMap((each) => (each.kept ? [] : [each.reason.rule]))
    const changed = results.flatMap((each) => (each.kept ? each.changes.map(({ rule }) => rule) : []))
    expect(new Set(dropped)).toEqual(new Set(['ids-wrong-type', 'purchase-value-joined']))
    expect(dropped.length / named('purchase').length).toBeLessThan(0.06)
    expect(changed).toEqual([])
    expect(events.some(({ event }) => isPlaceholder(String(event.tmpId)))).toBe(false)
  })

  test('narrows from views to purchases, grows, and is loudest while the campaign runs', () => {
    const sizes = ['page_view', 'product_view', 'add_cart', 'checkout', 'purchase'].map(
      (name) => named(name).length,
    )
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
    expect(sizes.at(-1)).toBeGreaterThan(400)
    const byDay = [...counted(events.map(dayOf))].map(([, list]) => list.length)
    const sum = (list: readonly number[]) => list.reduce((total, each) => total + each, 0)
    expect(sum(byDay.slice(28, 42))).toBeGreaterThan(sum(byDay.slice(0, 14)))
    expect(sum(byDay.slice(43, 50))).toBeGreaterThan(1.2 * sum(byDay.slice(50, 57)))
    const campaigns = events.filter(({ event }) => String(event.url).includes('utm_campaign=season_sale'))
    expect(counted(campaigns.map(dayOf)).size).toBe(7)
  })

  test('has persons who come again, users who are known, and several kinds of senders', () => {
    const days = new Map<string, Set<string>>()
    for (const each of events) {
      const person = String(each.event.tmpId)
      days.set(person, (days.get(person) ?? new Set()).add(dayOf(each)))
    }
    const again = [...days.values()].filter(({ size }) => size > 1).length
    expect(again / days.size).toBeGreaterThan(0.2)
    expect(events.some(({ event }) => event.clientId !== undefined)).toBe(true)
    expect(counted(events.map(({ sender }) => sender.address)).size).toBeGreaterThan(8)
    expect(counted(events.map(({ sender }) => sender.userAgent)).size).toBeGreaterThan(7)
  })
})
