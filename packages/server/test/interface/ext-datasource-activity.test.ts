import type { AddressInfo } from 'node:net'
import { permissionNames } from '@millrace/contract/permissions.ts'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertDatasource } from '../../src/features/datasources/datasource-service.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createTeamStore } from '../../src/features/identity/people/teams/team-store.ts'
import { createPrincipal } from '../../src/features/identity/sessions/principal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { newId } from '../../src/platform/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { callerToken, openTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let app: FastifyInstance
let origin: string
let company: { companyId: string; teamId: string }
let datasourceId: string
/** Whose requests are made; tests change it. Nobody's where it is undefined. */
let caller:
  | { companyId: string; teamIds: string[]; userId: string; permissions: Iterable<string> }
  | undefined

beforeAll(async () => {
  database = await createTestDatabase()
  company = await database.transaction((tx) => insertCompany(tx, 'Acme'))
  const { companyId, teamId } = company
  ;({ id: datasourceId } = await insertDatasource(database.db, {
    companyId,
    name: 'Shop',
    teamIds: [teamId],
  }))
  ;({ app } = await openTestService(database, {
    clock: systemClock,
    findPrincipal: async () =>
      caller &&
      createPrincipal({
        ...{ email: 'ada@example.com', roleId: newId(), clientId: newId(), tokenId: newId() },
        ...caller,
      }),
  }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
})

afterAll(async () => {
  await app.close()
  await database.close()
})

function as(companyId: string, teamIds: string[], permissions: Iterable<string> = permissionNames): void {
  caller = { companyId, teamIds, userId: newId(), permissions }
}

/** Listens until the end of the test. */
async function listen(id = datasourceId) {
  const leaving = new AbortController()
  const reply = await fetch(`${origin}/v2/datasources/${id}/activity`, {
    headers: callerToken,
    signal: leaving.signal,
  })
  const heard = { text: '', ended: false }
  const reading = (async () => {
    for await (const piece of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) heard.text += piece
    heard.ended = true
  })().catch(() => {})
  const leave = async () => {
    leaving.abort()
    await reading
  }
  return { reply, heard, leave }
}

const send = (events: unknown, headers: Record<string, string> = {}, id = datasourceId) =>
  fetch(`${origin}/collect/${id}/tracker`, {
    method: 'POST',
    headers,
    body: JSON.stringify(events),
  })

let last = 0
const event = (fields: Record<string, unknown> = {}) => ({
  ...{ key: company.companyId, name: 'view', url: 'https://shop.example/p?q=1', tmpId: 'device-1' },
  ...{ data: {}, eventId: `event-${++last}`, v: 1 },
  ...fields,
})

describe('the live feed', () => {
  test('tells what became of each event, through proxies and without waiting', async () => {
    as(company.companyId, [company.teamId])
    const { reply, heard, leave } = await listen()
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(reply.headers.has('content-encoding')).toBe(false)
    await until(() => heard.text.includes('event: open'))
    await send([event(), event({ tmpId: 5 }), event({ name: 'purchase', data: { value: '1;2' } })])
    await send(event(), { 'user-agent': 'Googlebot/2.1' })
    await send('')
    await until(() => heard.text.includes('"refused"'))
    const shown = [...heard.text.matchAll(/event: activity\ndata: (.*)\n\n/g)].map(
      ([, data]) => JSON.parse(data ?? '') as object,
    )
    expect(shown).toMatchObject([
      { outcome: 'accepted', name: 'view', url: 'https://shop.example/p' },
      { outcome: 'changed', changes: [{ rule: 'number-as-text', path: 'tmpId' }] },
      { outcome: 'dropped', rule: 'purchase-value-joined', path: 'data.value', sample: '"#;#"' },
      { outcome: 'bot', name: 'view' },
      { outcome: 'refused', rule: 'body-unparseable' },
    ])
    await leave()
  })

  test('shows nothing of a person who has not consented, where that is required', async () => {
    as(company.companyId, [company.teamId])
    const { companyId, teamId } = company
    const { id } = await insertDatasource(database.db, { companyId, name: 'Consented', teamIds: [teamId] })
    const change = await fetch(`${origin}/v2/datasources/${id}`, {
      method: 'PATCH',
      headers: { ...callerToken, 'content-type': 'application/json' },
      body: JSON.stringify({ consent: 'require' }),
    })
    expect(change.status).toBe(200)
    const { heard, leave } = await listen(id)
    await until(() => heard.text.includes('event: open'))
    const secret = { tmpId: 'secret-device', url: 'https://secret.example/' }
    const refused = [undefined, false, 1, 'yes', null].map((consent) => event({ ...secret, consent }))
    const taken = [true, 'true'].map((consent) => event({ consent, tmpId: 'known' }))
    const call = { type: 'track', event: 'View', anonymousId: 'secret-device', messageId: 'm' }
    const calls = [{}, { Analytics: false }, { Advertising: true }, { analytics: true }].map(
      (categories, i) => ({
        ...{ ...call, messageId: `m${i}` },
        context: { consent: { categoryPreferences: categories } },
      }),
    )
    await send([...refused, ...taken], {}, id)
    await fetch(`${origin}/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ batch: calls, writeKey: id }),
    })
    await send('', {}, id)
    await until(() => heard.text.includes('"refused"'))
    const shown = [...heard.text.matchAll(/event: activity\ndata: (.*)\n\n/g)].map(
      ([, data]) => JSON.parse(data ?? '') as { outcome: string; rule?: string },
    )
    expect(shown.map(({ outcome, rule }) => rule ?? outcome)).toEqual([
      ...refused.map(() => 'consent-missing'),
      ...['accepted', 'accepted'],
      ...['consent-missing', 'consent-missing', 'consent-missing', 'accepted'],
      'body-unparseable',
    ])
    const dropped = shown.filter(({ outcome }) => outcome === 'dropped')
    expect(JSON.stringify(dropped)).not.toContain('secret')
    await leave()
  })

  test('is the same for the collector whether somebody listens or not', async () => {
    as(company.companyId, [company.teamId])
    const body = [event(), event({ tmpId: 5 }), event({ name: 'purchase', data: { value: '1;2' } })]
    const alone = await send(body)
    const { leave } = await listen()
    const watched = await send(body)
    expect([watched.status, await watched.text()]).toEqual([alone.status, await alone.text()])
    await leave()
  })

  test('shows another company, and another team of this one, nothing', async () => {
    const other = await database.transaction((tx) => insertCompany(tx, 'Other'))
    as(other.companyId, [other.teamId])
    expect((await listen()).reply.status).toBe(404)
    const press = newId()
    await createTeamStore(database.db).insert({ id: press, companyId: company.companyId, name: 'Press' })
    as(company.companyId, [press])
    expect((await listen()).reply.status).toBe(404)
  })

  test('tells nothing of another datasource', async () => {
    as(company.companyId, [company.teamId])
    const { companyId, teamId } = company
    const other = await insertDatasource(database.db, { companyId, name: 'Blog', teamIds: [teamId] })
    const [shop, blog] = [await listen(), await listen(other.id)]
    await send(event())
    await until(() => shop.heard.text.includes('event: activity'))
    expect(blog.heard.text).not.toContain('activity')
    await Promise.all([shop.leave(), blog.leave()])
  })

  test('has five streams of a user at most, and a place again once one is closed', async () => {
    as(company.companyId, [company.teamId])
    const open = await Promise.all(Array.from({ length: 5 }, () => listen()))
    const refused = await listen()
    expect(refused.reply.status).toBe(429)
    await open[0]?.leave()
    await until(async () => {
      const { reply, leave } = await listen()
      await leave()
      return reply.status === 200
    })
    await Promise.all(open.map(({ leave }) => leave()))
  })

  test('answers HEAD as GET without taking a place', async () => {
    as(company.companyId, [company.teamId])
    for (let i = 0; i < 6; i++) {
      const { status, headers } = await fetch(`${origin}/v2/datasources/${datasourceId}/activity`, {
        method: 'HEAD',
        headers: callerToken,
      })
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    }
    const { reply, leave } = await listen()
    expect(reply.status).toBe(200)
    await leave()
  })

  test.each([
    ['unauthenticated', () => (caller = undefined)],
    ['forbidden', () => Object.assign(caller ?? {}, { permissions: ['statistics:access'] })],
    ['gone', () => Object.assign(caller ?? {}, { teamIds: [newId()] })],
  ])('ends with the reason %s when the caller may look no longer', async (reason, change) => {
    as(company.companyId, [company.teamId])
    const { heard } = await listen()
    await until(() => heard.text.includes('event: open'))
    change()
    await until(() => heard.ended)
    expect(heard.text).toContain(`event: end\ndata: {"reason":"${reason}"}`)
  })

  test('ends at once when the service stops', async () => {
    as(company.companyId, [company.teamId])
    const { heard } = await listen()
    await until(() => heard.text.includes('event: open'))
    const closing = app.close()
    await until(() => heard.ended)
    expect(heard.text).toContain('{"reason":"closing"}')
    await closing
  })
})
