import type { SavedQuery } from '@millrace/contract/resources/saved-query.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsQuery, openSavedQueries, type SavedQueriesApp } from '../support/saved-queries.ts'

let app: SavedQueriesApp

beforeAll(async () => {
  app = await openSavedQueries()
  await app.advanceTo('2027-03-01T06:00:00Z')
})

afterAll(() => app.close())

type Who = Parameters<SavedQueriesApp['call']>[0]
const patch = (id: string, body: unknown, who: Who = 'analyst') => app.call(who, 'PATCH', `/${id}`, body)
const peopleQuery = { ...eventsQuery, measures: ['events.people'] }

describe('operation 7', () => {
  test('changes what is given and leaves the rest', async () => {
    const before = await app.save({ schedule: app.daily() })
    app.app.time.advance(1_000)
    const { status, data } = await patch(before.id.toUpperCase(), { name: 'Orders' })
    expect(status).toBe(200)
    expect(data).toEqual({ ...before, name: 'Orders', updatedAt: expect.any(String), revision: 2 })
    expect(Date.parse(String(data.updatedAt))).toBe(Date.parse(before.updatedAt) + 1_000)
    expect((await patch(before.id, { queries: [peopleQuery] })).data).toMatchObject({
      name: 'Orders',
      queries: [peopleQuery],
      schedule: before.schedule,
      nextRunAt: before.nextRunAt,
    })
    expect(await app.read(before.id)).toMatchObject({ name: 'Orders', queries: [peopleQuery] })
  })

  test('replaces the schedule as a whole', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    const schedule = { frequency: 'custom', cron: '0 9 * * 1', recipients: [app.people.admin.email] }
    const { data } = await patch(id, { schedule })
    expect(data).toMatchObject({ schedule, nextRunAt: '2027-03-01T09:00:00.000Z' })
    expect((await patch(id, { schedule: { ...schedule, enabled: false } })).data.nextRunAt).toBeUndefined()
  })

  test.each([{}, null])('V05: the schedule %j removes it', async (schedule) => {
    const { id } = await app.save({ schedule: app.daily() })
    const { data } = await patch(id, { schedule })
    expect(data.schedule).toEqual({})
    expect(data.nextRunAt).toBeUndefined()
  })

  test('V05: null is no list of queries and no name', async () => {
    const { id } = await app.save()
    expect((await patch(id, { queries: null })).status).toBe(400)
    expect((await patch(id, { name: null })).status).toBe(400)
  })

  test('what was read can be sent back; response-only fields change nothing', async () => {
    const saved = await app.save({ schedule: app.daily() })
    const { status, data } = await patch(saved.id, {
      ...saved,
      companyId: saved.id,
      id: 'x',
      ownerId: 'x',
      createdAt: 'x',
    })
    expect(status).toBe(200)
    expect(data).toEqual({ ...saved, updatedAt: expect.any(String), revision: 2 })
  })
})

describe('V03', () => {
  test('an unknown saved query and one of another company are 404', async () => {
    const { id } = await app.save()
    const { status, data, error_code } = await patch('65f0c0ffee5ca1ab1e0ddba1', { name: 'x' })
    expect({ status, data, error_code }).toEqual({
      status: 404,
      data: { id: '65f0c0ffee5ca1ab1e0ddba1' },
      error_code: 9200,
    })
    expect((await patch(id, { name: 'x' }, 'stranger')).status).toBe(404)
    expect(
      (await patch(id, { queries: [{ ...eventsQuery, measures: ['no.such'] }] }, 'stranger')).status,
    ).toBe(404)
    expect((await app.read(id)).name).toBe('Sales')
    expect((await patch('no-id', { name: 'x' })).status).toBe(400)
  })

  test('an empty change changes nothing, not even updatedAt', async () => {
    const saved = await app.save()
    app.app.time.advance(1_000)
    expect((await patch(saved.id, {})).data).toEqual(saved)
    expect(await app.read(saved.id)).toEqual(saved)
  })

  test.each([
    { name: 'New', queries: [eventsQuery, { ...eventsQuery, measures: ['no.such'] }] },
    { name: 'New', schedule: { frequency: 'daily', time: '25:00' } },
    { name: 'New', schedule: { frequency: 'daily', time: '08:00', recipients: ['x@nowhere.example'] } },
    { queries: [peopleQuery], schedule: { frequency: 'daily' } },
    { name: 'New', queries: [peopleQuery], other: 1 },
  ])('a change of which a part is invalid is refused whole: %j', async (body) => {
    const saved = await app.save({ schedule: app.daily() })
    expect((await patch(saved.id, body)).status).toBe(400)
    expect(await app.read(saved.id)).toEqual(saved)
  })
})

test('V04: changes at once come one after the other, and updatedAt only grows', async () => {
  const { id, updatedAt } = await app.save()
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      patch(id, { name: `Name ${i}`, queries: [{ ...eventsQuery, limit: i + 1 }] }),
    ),
  )
  const answered = replies.map(({ data }) => data as unknown as SavedQuery)
  // No document mixes two changes.
  for (const { name, queries } of answered) expect(name).toBe(`Name ${Number(queries[0]?.limit) - 1}`)
  // The time stands still, so that any two equal instants would show.
  const instants = [updatedAt, ...answered.map((each) => each.updatedAt)]
  expect(new Set(instants).size).toBe(instants.length)
  const last = answered.toSorted((a, b) => a.updatedAt.localeCompare(b.updatedAt)).at(-1)
  expect(await app.read(id)).toEqual(last)
})

describe('whose rights runs have', () => {
  test('a user who changes queries or schedule becomes the owner; a name changes nothing', async () => {
    const { id, ownerId } = await app.save({ schedule: app.daily() })
    expect(ownerId).toBe(app.people.analyst.id)
    expect((await patch(id, { name: 'x' }, 'reader')).data.ownerId).toBe(ownerId)
    expect((await patch(id, { queries: [peopleQuery] }, 'admin')).data.ownerId).toBe(app.people.admin.id)
    expect((await patch(id, { schedule: app.daily() })).data.ownerId).toBe(ownerId)
  })

  test('nobody borrows the right to export by changing what another has scheduled', async () => {
    const saved = await app.save({ schedule: app.daily() })
    const { status } = await patch(saved.id, { queries: [peopleQuery] }, 'reader')
    expect(status).toBe(403)
    const recipients = [app.people.reader.email]
    expect((await patch(saved.id, { schedule: app.daily({ recipients }) }, 'reader')).status).toBe(403)
    expect(await app.read(saved.id)).toEqual(saved)
    // Turning it off takes nothing out.
    expect((await patch(saved.id, { schedule: {} }, 'reader')).status).toBe(200)
  })
})
