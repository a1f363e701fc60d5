import type { KeptEvent } from '@millrace/contract/events/validate.ts'
import type { ActivityMessages } from '@millrace/contract/resources/datasource-activity.ts'
import { describe, expect, test } from 'vitest'
import { createActivityFeed, maxPerSecond } from './activity-feed.ts'

const datasource = { id: 'shop', companyId: 'acme', active: true, countries: true }
const sender = { deviceType: 'mobile' }

function keptEvent(fields: Partial<KeptEvent> = {}): KeptEvent {
  return {
    ...{ kept: true, eventId: 'e', name: 'view', url: '', referrerHost: '', tmpId: 'device-1', clientId: '' },
    ...{ time: 0, ids: [], value: undefined, transId: '', labels: [], changes: [] },
    ...fields,
  }
}

function open() {
  const world = { now: Date.UTC(2026, 0, 15, 12) }
  const feed = createActivityFeed({ clock: { now: () => world.now } })
  const messages: [name: string, data: unknown, events: number][] = []
  const listen = (id = datasource.id) =>
    feed.listen(id, { send: (name, data, events) => void messages.push([name, data, events]) })
  const send = (count: number, event = keptEvent()) => {
    const witness = feed.witness(datasource, sender, 'FR')
    for (let i = 0; i < count; i++) witness?.kept(event)
    witness?.tell()
  }
  const shown = () => messages.filter(([name]) => name === 'activity').length
  const sampled = () =>
    messages.flatMap(([name, data]) => (name === 'sampled' ? [data as ActivityMessages['sampled']] : []))
  return { world, feed, messages, listen, send, shown, sampled }
}

describe('the live feed', () => {
  test('has no witness while nobody listens to the datasource', () => {
    const { feed, listen } = open()
    expect(feed.witness(datasource, sender, 'FR')).toBeUndefined()
    const leaveOther = listen('other')
    expect(feed.witness(datasource, sender, 'FR')).toBeUndefined()
    const leave = listen()
    expect(feed.witness(datasource, sender, 'FR')).toBeDefined()
    leave()
    leaveOther()
    expect(feed.witness(datasource, sender, 'FR')).toBeUndefined()
  })

  test('shows an event without query, credentials, identity, labels and amounts', () => {
    const { messages, listen, send } = open()
    listen()
    const event = keptEvent({
      name: 'purchase',
      url: 'https://ada:secret@shop.example/thanks?mail=ada@example.com#top',
      ...{ clientId: 'ada@example.com', value: '59.90', ids: ['sku-1'], labels: [['city', 'Lyon']] },
    })
    send(1, event)
    expect(messages).toEqual([
      [
        'activity',
        {
          at: '2026-01-15T12:00:00.000Z',
          outcome: 'accepted',
          name: 'purchase',
          url: 'https://shop.example/thanks',
          deviceType: 'mobile',
          country: 'FR',
          person: expect.stringMatching(/^[0-9a-f]{8}$/),
        },
        1,
      ],
    ])
  })

  test('calls a person the same for one process, and another than any other', () => {
    const [one, other] = [open(), open()]
    for (const each of [one, other]) {
      each.listen()
      each.send(2)
      each.send(1, keptEvent({ clientId: 'ada' }))
    }
    const people = (of: typeof one) => of.messages.map(([, data]) => (data as { person: string }).person)
    const [first, again, ada] = people(one)
    expect(again).toBe(first)
    expect(ada).not.toBe(first)
    expect(people(other)[0]).not.toBe(first)
  })

  test('says by which rules an event was changed or dropped, and nothing of what was meant for another company', () => {
    const { feed, messages, listen } = open()
    listen()
    const witness = feed.witness(datasource, sender, '')
    const note = { rule: 'number-as-text', path: 'tmpId', sample: '#' } as const
    witness?.kept(keptEvent({ changes: [note] }))
    witness?.dropped(
      { rule: 'ids-wrong-type', path: 'data.ids', sample: '#' },
      { name: 'cart', url: 'https://a.example/?x' },
    )
    witness?.dropped({ rule: 'key-mismatch', path: 'key', sample: '"xx"' }, { name: 'cart', url: '/x' })
    witness?.bots([{ name: 5 }, 'x'], 'googlebot')
    witness?.tell()
    feed.refused(datasource, 'body-empty', 'The body is empty')
    expect(messages.map(([, data]) => data)).toMatchObject([
      { outcome: 'changed', changes: [{ rule: 'number-as-text', path: 'tmpId' }] },
      {
        outcome: 'dropped',
        rule: 'ids-wrong-type',
        path: 'data.ids',
        name: 'cart',
        url: 'https://a.example/',
      },
      { outcome: 'dropped', rule: 'key-mismatch' },
      { outcome: 'bot', sample: 'googlebot' },
      { outcome: 'bot' },
      { outcome: 'refused', rule: 'body-empty' },
    ])
    expect(messages[2]?.[1]).not.toHaveProperty('name')
    expect(messages[2]?.[1]).not.toHaveProperty('url')
  })

  test('shows all of a quiet second', () => {
    const { world, feed, listen, send, shown, sampled } = open()
    listen()
    for (let second = 0; second < 3; second++) {
      send(maxPerSecond)
      world.now += 1_000
      feed.tick()
    }
    expect(shown()).toBe(3 * maxPerSecond)
    expect(sampled()).toEqual([])
  })

  test('shows a bounded share of a busy second, spread over it, and says which share', () => {
    const { world, feed, listen, send, shown, sampled } = open()
    listen()
    send(500)
    expect(shown()).toBe(maxPerSecond)
    world.now += 1_000
    feed.tick()
    expect(sampled()).toEqual([
      {
        from: '2026-01-15T12:00:00.000Z',
        shown: maxPerSecond,
        seen: 500,
        share: 0.1,
        missed: { accepted: 450 },
      },
    ])
    const before = shown()
    send(100)
    expect(shown() - before).toBeGreaterThanOrEqual(9)
    expect(shown() - before).toBeLessThanOrEqual(11)
    send(400)
    world.now += 1_000
    feed.tick()
    expect(sampled()[1]).toMatchObject({ seen: 500 })
    expect(shown() - before).toBeLessThanOrEqual(maxPerSecond)
    // A second in which little comes is shown whole again.
    world.now += 2_000
    feed.tick()
    const quiet = shown()
    send(5)
    expect(shown() - quiet).toBe(5)
  })
})
