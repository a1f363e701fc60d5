import type { Cohort, CohortRule } from '@millrace/contract/resources/cohort.ts'
import { describe, expect, it } from 'vitest'
import {
  callerToken,
  type Envelope,
  openStatisticsApp,
  type StatisticsApp,
} from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testCompany } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function ask<T = Cohort>(method: Method, path = '', body?: unknown) {
  await app.makeCompany()
  const response = await app.app.inject({
    method,
    url: `/v2/statistics/cohorts${path}`,
    headers: { ...callerToken, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  })
  const envelope = response.json() as Envelope & { paginationCount?: number }
  return { status: response.statusCode, body: envelope, data: envelope.data as T }
}

let made = 0
const name = () => `Cohort ${++made}`

const create = (fields: object) => ask('POST', '', { name: name(), ...fields })

const buyers: CohortRule = { event: { events: ['purchase'] } }

async function idOf(fields: object): Promise<string> {
  const { status, body, data } = await create(fields)
  if (status !== 200) throw new Error(body.message)
  return data.id
}

const inCohort = (...values: string[]) => ({
  member: 'persons.cohort',
  operator: 'equals' as const,
  values,
})

const membersOf = async (id: string) =>
  (await ask<{ person: string }[]>('GET', `/${id}/members?perPage=100`)).data.map(({ person }) => person)

describe('a cohort', () => {
  it('is made, listed, read, changed and deleted', async () => {
    const rule: CohortRule = { and: [buyers, { not: { lastSeen: { before: '30 days ago' } } }] }
    const first = await create({ name: 'Zebras', rule })
    expect(first).toMatchObject({
      status: 200,
      data: {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        companyId: testCompany,
        name: 'Zebras',
        description: '',
        kind: 'rule',
        rule,
        listed: null,
        ownerId: expect.stringMatching(/^[0-9a-f]{24}$/),
      },
    })
    const list = await create({ name: 'aardvarks', description: 'a\nb', persons: ['ada', 'bob', 'ada'] })
    expect(list.data).toMatchObject({ kind: 'list', rule: null, listed: 2, description: 'a\nb' })
    const ids = async (query: string) =>
      (await ask<{ id: string }[]>('GET', `?perPage=100&${query}`)).data.map(({ id }) => id)
    expect(await ids('q=ZEBRA')).toEqual([first.data.id])
    expect(await ids('q=_ebras')).toEqual([])
    expect((await ids('sortBy=createdAt'))[0]).toBe(list.data.id)

    const page = await ask<Cohort[]>('GET', '?perPage=1')
    expect(page.body.paginationCount).toBeGreaterThanOrEqual(2)
    expect(page.data.map((each) => each.name)).toEqual(['aardvarks'])

    expect((await ask('GET', `/${first.data.id.toUpperCase()}`)).data).toEqual(first.data)
    const changed = await ask('PATCH', `/${first.data.id}`, { ...first.data, name: 'Okapis', rule: buyers })
    expect(changed.data).toMatchObject({ name: 'Okapis', rule: buyers, createdAt: first.data.createdAt })
    expect((await ask('PATCH', `/${first.data.id}`, {})).data).toEqual(changed.data)

    for (const { data } of [first, list]) {
      expect((await ask('DELETE', `/${data.id}`)).status).toBe(200)
      for (const method of ['GET', 'DELETE'] as const)
        expect((await ask(method, `/${data.id}`)).body).toMatchObject({ code: 404, error_code: 9300 })
    }
  })

  it('has a name that no other has, whatever its case and the spaces around it', async () => {
    const id = await idOf({ name: 'Été', rule: buyers })
    expect((await create({ name: '  été ', rule: buyers })).body).toMatchObject({
      code: 409,
      error_code: 9301,
      data: { name: '  été ' },
    })
    const other = await idOf({ rule: buyers })
    expect((await ask('PATCH', `/${other}`, { name: 'ÉTÉ' })).status).toBe(409)
    expect((await ask('PATCH', `/${id}`, { name: 'ÉTÉ' })).status).toBe(200)
    app.caller.companyId = otherCompany
    expect((await create({ name: 'Été', rule: buyers })).status).toBe(200)
  })

  it('counts and shows the persons whom the company has events of', async () => {
    await engine.load([
      storedEvent({ tmpId: 'd1', at: '2026-03-01T10:00:00Z' }),
      storedEvent({ tmpId: 'd1', name: 'purchase', at: '2026-03-02T10:00:00Z' }),
      storedEvent({ tmpId: 'd1', clientId: 'ada', name: 'identify', at: '2026-03-09T10:00:00Z' }),
      storedEvent({ tmpId: 'd2', name: 'purchase', at: '2026-03-03T10:00:00Z' }),
      storedEvent({ tmpId: 'd3' }),
      storedEvent({ tmpId: 'd9', name: 'purchase', company: otherCompany }),
    ])
    const id = await idOf({ rule: buyers })
    const { data } = await ask('GET', `/${id}/size`)
    expect(data).toEqual({ people: 2, identified: 1, readAt: '2026-03-20T15:30:00.000Z' })
    expect((await ask('POST', '/size', { rule: buyers })).data).toEqual(data)
    const members = await ask<object[]>('GET', `/${id}/members?perPage=1&page=1`)
    expect(members.body.paginationCount).toBe(2)
    expect(members.data).toEqual([
      {
        person: 'ada',
        isIdentified: true,
        events: 3,
        firstSeen: '2026-03-01T10:00:00.000Z',
        lastSeen: '2026-03-09T10:00:00.000Z',
      },
    ])
    const others = await ask<object[]>('GET', `/${id}/members?perPage=1&page=2`)
    expect(others.data).toMatchObject([{ person: 'd2', isIdentified: false, events: 1 }])
    const behind = await ask<object[]>('GET', `/${id}/members?perPage=1&page=1000000`)
    expect(behind.body).toMatchObject({ data: [], paginationCount: 2 })
  })

  it('says what is wrong with a rule that is to be counted', async () => {
    const { status, body } = await ask('POST', '/size', { rule: { and: [{ event: {}, label: {} }] } })
    expect(status).toBe(400)
    expect(body.message).toContain('rule.and.0')
    const unknown = { event: { filters: [{ member: 'events.shoe', operator: 'equals', values: ['1'] }] } }
    expect((await ask('POST', '/size', { rule: unknown })).body).toMatchObject({ error_code: 9100 })
  })

  it('is counted and shown at one of the places of the user who asks, for as long as that caller waits', async () => {
    const users: (string | undefined)[] = []
    const signals: (AbortSignal | undefined)[] = []
    const own = await openStatisticsApp(engine.columnar, {
      queryLimiter: {
        async enter(_companyId, signal, userId) {
          users.push(userId)
          signals.push(signal)
          return () => {}
        },
      },
    })
    try {
      const made = await own.post({ name: name(), rule: buyers }, { path: '/v2/statistics/cohorts' })
      const url = `/v2/statistics/cohorts/${(made.body.data as Cohort).id}`
      for (const part of ['size', 'members']) {
        const { statusCode } = await own.app.inject({ url: `${url}/${part}`, headers: callerToken })
        expect(statusCode).toBe(200)
      }
      expect(new Set(users)).toEqual(new Set([expect.stringMatching(/^75/)]))
      // Aborted when the caller leaves before the answer is there.
      expect(signals).toEqual([expect.any(AbortSignal), expect.any(AbortSignal)])
    } finally {
      await own.app.close()
    }
  })

  it('has a list that is replaced as a whole', async () => {
    await engine.load(['a', 'b', 'c'].map((tmpId) => storedEvent({ tmpId })))
    const id = await idOf({ persons: ['a', 'nobody'] })
    expect(await membersOf(id)).toEqual(['a'])
    const { data } = await ask('PUT', `/${id}/members`, { persons: ['c', 'b', 'b'] })
    expect(data).toMatchObject({ id, listed: 2 })
    expect(await membersOf(id)).toEqual(['b', 'c'])
    await ask('PUT', `/${id}/members`, { persons: [] })
    expect(await membersOf(id)).toEqual([])
  })

  it('takes a list of 100,000 persons, and not one more', async () => {
    await engine.load([storedEvent({ clientId: 'person 99999' }), storedEvent({ clientId: 'person 100000' })])
    const id = await idOf({ persons: [] })
    const persons = Array.from({ length: 100_000 }, (_, i) => `person ${i}`)
    expect((await ask('PUT', `/${id}/members`, { persons })).data).toMatchObject({ listed: 100_000 })
    expect(await membersOf(id)).toEqual(['person 99999'])
    const refused = await ask('PUT', `/${id}/members`, { persons: [...persons, 'person 100000'] })
    expect(refused.body).toMatchObject({ code: 400, error_code: 1 })
    expect(await membersOf(id)).toEqual(['person 99999'])
  })

  it('removes lists that were replaced, once no query can be about to read them', async () => {
    const id = await idOf({ persons: ['a'] })
    const stored = () =>
      engine.columnar.query<{ person_id: string }>({
        sql: 'SELECT person_id FROM cohort_persons WHERE cohort = {id:String} ORDER BY person_id',
        params: { id },
      })
    const begin = app.now
    try {
      app.now = Date.now()
      await ask('PUT', `/${id}/members`, { persons: ['b'] })
      expect(await stored()).toEqual([{ person_id: 'a' }, { person_id: 'b' }])
      app.now = Date.now() + 3_600_000
      await ask('PUT', `/${id}/members`, { persons: ['c'] })
      expect(await stored()).toEqual([{ person_id: 'c' }])
      await ask('DELETE', `/${id}`)
      expect(await stored()).toEqual([])
    } finally {
      app.now = begin
    }
  })
})

describe('the filter persons.cohort', () => {
  it('is a filter of every source and no grouping', async () => {
    await engine.load([
      storedEvent({ clientId: 'ada', name: 'purchase', value: '10.00', at: '2026-03-10T10:00:00Z' }),
      storedEvent({ clientId: 'ada' }),
      storedEvent({ clientId: 'bob' }),
    ])
    const id = await idOf({ rule: buyers })
    expect(
      await app.rows({ measures: ['events.count', 'purchases.revenue'], filters: [inCohort(id)] }),
    ).toEqual([{ 'events.count': 2, 'purchases.revenue': 10 }])
    expect(
      await app.rows({
        measures: ['events.people'],
        filters: [{ or: [inCohort(id), { member: 'events.person', operator: 'equals', values: ['bob'] }] }],
      }),
    ).toEqual([{ 'events.people': 2 }])
    const counted = wholeQuery({
      measures: ['events.count'],
      dimensions: ['events.name'],
      filters: [inCohort(id)],
    })
    expect((await app.post({ ...counted, total: true })).body).toMatchObject({ code: 200, total: 2 })
    const { body } = await app.post(
      wholeQuery({ measures: ['events.count'], dimensions: ['persons.cohort'] }),
    )
    expect(body).toMatchObject({
      code: 400,
      error_code: 9103,
      message: 'dimensions.0: rows are not grouped by persons.cohort: name it under filters',
    })
  })

  it('filters the rows that are counted beyond a page', async () => {
    const at = '2026-03-10T10:00:00Z'
    await engine.load([
      ...['page_view', 'add_cart', 'purchase'].map((each) => storedEvent({ tmpId: 'd1', name: each, at })),
      storedEvent({ tmpId: 'd2', name: 'search', at }),
    ])
    const filters = [inCohort(await idOf({ rule: buyers }))]
    const asked = { dimensions: ['events.name'], filters, total: true }
    for (const page of [{ limit: 1 }, { offset: 2 }, { limit: 1, fill: true }]) {
      const timeDimensions = [
        { dimension: 'events.time', granularity: 'day' as const, dateRange: ['2026-03-10', '2026-03-10'] },
      ]
      const { body } = await app.post(wholeQuery({ ...asked, timeDimensions, ...page }))
      expect(body).toMatchObject({ code: 200, total: 3 })
    }
  })

  it('is described by the metadata as a filter alone', async () => {
    const { dimensions, queryCompatibility } = await app.service.describe(testCompany)
    expect(dimensions['persons.cohort']).toMatchObject({
      source: 'persons',
      operators: ['equals', 'notEquals'],
      filterOnly: true,
    })
    for (const component of queryCompatibility.components) expect(component).toContain('persons.cohort')
  })

  it('filters funnels, retention, paths and sessions', async () => {
    await engine.load([
      storedEvent({ clientId: 'ada', name: 'add_cart', at: '2026-03-10T09:00:00Z' }),
      storedEvent({ clientId: 'ada', name: 'purchase', at: '2026-03-10T10:00:00Z' }),
      storedEvent({ clientId: 'bob', name: 'add_cart', at: '2026-03-10T10:00:00Z' }),
    ])
    const id = await idOf({ rule: buyers })
    const dateRange = ['2026-03-10', '2026-03-10']
    const explore = async (what: string, body: object) => {
      const response = await app.app.inject({
        method: 'POST',
        url: `/v2/statistics/${what}`,
        headers: { ...callerToken, 'content-type': 'application/json' },
        payload: JSON.stringify({ dateRange, filters: [inCohort(id)], ...body }),
      })
      if (response.statusCode !== 200) throw new Error(response.body)
      return JSON.parse(response.json().data) as object[]
    }
    const steps = [{ events: ['add_cart'] }, { events: ['purchase'] }]
    expect(await explore('funnels', { steps, filters: [] })).toMatchObject([{ people: 2 }, { people: 1 }])
    for (const per of ['person', 'session']) {
      const [first] = await explore('funnels', { steps, per })
      expect(first).toMatchObject({ [per === 'person' ? 'people' : 'sessions']: 1 })
    }
    const ofPerson = { member: 'events.person', operator: 'equals', values: ['ada'] }
    const asked = [
      ['retention', { firstEvent: {}, returnEvent: {}, granularity: 'day', periods: 2 }],
      ['paths', { by: 'event' }],
    ] as const
    for (const [what, body] of asked) {
      const rows = await explore(what, body)
      expect(rows.length).toBeGreaterThan(0)
      expect(rows).toEqual(await explore(what, { ...body, filters: [ofPerson] }))
    }
    const sessions = (filter: object) =>
      app.rows({ measures: ['sessions.count', 'sessions.people'], filters: [filter] as never })
    const entry = { member: 'sessions.entryPath', operator: 'equals', values: ['/nowhere'] }
    for (const filter of [inCohort(id), { or: [entry, inCohort(id)] }])
      expect(await sessions(filter)).toEqual([{ 'sessions.count': 2, 'sessions.people': 1 }])
  })

  it('answers V06 and strangers alike: a cohort that is deleted or of another company does not exist', async () => {
    const gone = await idOf({ rule: buyers })
    await ask('DELETE', `/${gone}`)
    app.caller.companyId = otherCompany
    const foreign = await idOf({ rule: buyers })
    app.caller.companyId = testCompany
    for (const id of [gone, foreign, 'f'.repeat(24), 'no id', "' or 1=1 --"]) {
      const query = wholeQuery({
        measures: ['events.count'],
        filters: [{ member: 'events.name', operator: 'equals', values: ['a'] }, inCohort(id)],
      })
      const { status, body } = await app.post(query)
      expect(status).toBe(400)
      expect(body).toMatchObject({
        error_code: 9103,
        message: `filters.1.values.0: there is no cohort ${JSON.stringify(id)}; GET /v2/statistics/cohorts lists those of your company`,
      })
    }
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/size'],
      ['GET', '/members'],
      ['PUT', '/members'],
    ] as const) {
      const body = { PATCH: { name: name() }, PUT: { persons: [] } }[method as string]
      expect((await ask(method, `/${foreign}${path}`, body)).body).toMatchObject({
        code: 404,
        error_code: 9300,
      })
    }
  })

  it('takes 10 different cohorts', async () => {
    const ids = Array.from({ length: 11 }, (_, i) => String(i).padStart(24, 'a'))
    const { body } = await app.post(wholeQuery({ measures: ['events.count'], filters: [inCohort(...ids)] }))
    expect(body).toMatchObject({
      code: 400,
      message: 'A query may name 10 different cohorts, not 11',
    })
    const repeated = await idOf({ persons: [] })
    const values = Array.from({ length: 30 }, () => repeated)
    expect(await app.rows({ measures: ['events.count'], filters: [inCohort(...values)] })).toEqual([
      { 'events.count': 0 },
    ])
  })

  it.each(['contains', 'gt', 'set'])('does not take %s', async (operator) => {
    const values = operator === 'set' ? {} : { values: ['a'.repeat(24)] }
    const { body } = await app.post({
      ...wholeQuery({ measures: ['events.count'] }),
      filters: [{ member: 'persons.cohort', operator, ...values }],
    })
    expect(body).toMatchObject({ code: 400 })
    expect(body.message).toContain('it takes equals, notEquals')
  })

  it('takes so many conditions of cohorts together, however often each is named', async () => {
    const filter = { member: 'events.name', operator: 'equals' as const, values: ['a'] }
    const condition: CohortRule = { event: { filters: Array.from({ length: 9 }, () => filter) } }
    const id = await idOf({ rule: { and: Array.from({ length: 30 }, () => condition) } })
    const asked = (times: number) =>
      app.post(wholeQuery({ measures: ['events.count'], filters: [inCohort(...Array(times).fill(id))] }))
    expect((await asked(11)).body).toMatchObject({
      code: 400,
      error_code: 19,
      message: expect.stringMatching(/3000 conditions and filters together.* these have 3300/),
    })
    const steps = Array.from({ length: 12 }, () => ({ filters: [inCohort(id)] }))
    const funnel = await app.post({ steps }, { path: '/v2/statistics/funnels' })
    expect(funnel.body.message).toMatch(/these have 3600/)
    expect((await asked(1)).status).toBe(200)
  })
})

describe('a rule', () => {
  const leaf = { label: { key: 'country', operator: 'equals', values: ['France'] } }
  const nest = (depth: number): object => (depth <= 1 ? leaf : { not: nest(depth - 1) })

  it.each([
    ['nothing', {}, 'rule must not be empty'],
    ['another word', { events: {} }, 'rule.events is not known; did you mean "event"?'],
    ['another word deep inside', { and: [{ not: { evnt: {} } }] }, 'rule.and.0.not.evnt is not known'],
    ['no condition', { dateRange: 'today' }, 'rule: a rule has one of event, firstSeen'],
    ['two conditions', { event: {}, not: leaf }, 'this one has event and not: join them by and'],
    [
      'a count beside a label',
      { ...leaf, atLeast: 2 },
      'rule.atLeast: stands beside event only, not beside label',
    ],
    [
      'a range beside and',
      { and: [leaf], dateRange: 'today' },
      'rule.dateRange: stands beside event or label',
    ],
    ['an empty group', { or: [] }, 'rule.or must not be empty'],
    [
      'an empty range',
      { event: {}, dateRange: 'last 0 days' },
      'rule.dateRange: "last 0 days" is an empty range',
    ],
    [
      'Q07, 30 February',
      { firstSeen: { before: '2024-02-30' } },
      'rule.firstSeen.before: "2024-02-30" is not a date',
    ],
    [
      'Q07, a range backwards',
      { lastSeen: { dateRange: ['2026-03-02', '2026-03-01'] } },
      'ends before it begins',
    ],
    ['no time of being seen', { lastSeen: {} }, 'rule.lastSeen must not be empty'],
    ['everybody', { event: {}, atLeast: 0 }, 'rule.atLeast: is 0, which holds for everybody'],
    [
      'more than at most',
      { event: {}, atLeast: 3, atMost: 2 },
      'rule.atMost: is 2, less than atLeast, which is 3',
    ],
    ['half an event', { event: {}, atLeast: 1.5 }, 'rule.atLeast must be a whole number, it is 1.5'],
    ['-1 events', { event: {}, atLeast: -1 }, 'rule.atLeast must be at least 0; it is -1'],
    [
      'another cohort',
      { and: [{ event: { filters: [inCohort('a'.repeat(24))] } }] },
      'rule.and.0.event.filters.0: a cohort cannot refer to another cohort: repeat its rule here',
    ],
    [
      'a measure',
      { event: { filters: [{ member: 'events.count', operator: 'gt', values: ['1'] }] } },
      'events.count is a measure',
    ],
    [
      'an unknown member',
      { not: { event: { filters: [{ member: 'events.nmae', operator: 'equals', values: ['a'] }] } } },
      'rule.not.event.filters.0.member: there is no member "events.nmae"; did you mean events.name?',
    ],
    [
      'a dimension of purchases',
      { event: { filters: [{ member: 'purchases.transaction', operator: 'equals', values: ['a'] }] } },
      'purchases.transaction is no dimension of events',
    ],
    [
      'Q06, an operator that negates a label',
      { label: { key: 'country', operator: 'notEquals', values: ['France'] } },
      'rule.label.operator must be one of "equals", "contains"',
    ],
    [
      'Q05, a label without values',
      { label: { key: 'country', operator: 'equals', values: [] } },
      'rule.label.values must not be empty',
    ],
    [
      'a number that overflows',
      { label: { key: 'size', operator: 'gt', values: ['1e999'] } },
      'rule.label.values.0: "1e999" is not a decimal number',
    ],
    ['a sixth level', nest(6), 'A rule may be 5 levels deep and have 30 conditions, not more'],
    [
      'a 31st condition',
      {
        or: [{ or: Array.from({ length: 16 }, () => leaf) }, { or: Array.from({ length: 15 }, () => leaf) }],
      },
      'A rule may be 5 levels deep and have 30 conditions, not more',
    ],
    [
      'more text than a statement takes',
      { or: Array.from({ length: 30 }, () => ({ label: { ...leaf.label, values: ['x'.repeat(3_900)] } })) },
      'A rule may have 100000 characters as JSON',
    ],
    ['a list', [leaf], 'rule must be'],
    ['a list deep inside', { not: [leaf] }, 'rule.not must be an object'],
  ])('with %s is refused, and nothing is kept', async (_what, rule, message) => {
    const before = await ask<Cohort[]>('GET', '?perPage=1')
    const { status, body } = await create({ rule })
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: expect.stringContaining(message),
    })
    const id = await idOf({ rule: buyers })
    const patched = await ask('PATCH', `/${id}`, { name: name(), rule })
    expect(patched.body.message).toEqual(body.message)
    expect((await ask('GET', `/${id}`)).data.rule).toEqual(buyers)
    await ask('DELETE', `/${id}`)
    expect((await ask<Cohort[]>('GET', '?perPage=1')).body.paginationCount).toBe(before.body.paginationCount)
  })

  it('may be 5 levels deep and have 30 conditions', async () => {
    await engine.load([
      storedEvent({ clientId: 'ada', labels: { country: 'France' } }),
      storedEvent({ clientId: 'bob' }),
    ])
    expect(await membersOf(await idOf({ rule: nest(5) }))).toEqual(['ada'])
    expect(await membersOf(await idOf({ rule: nest(4) }))).toEqual(['bob'])
    expect(await membersOf(await idOf({ rule: { and: Array.from({ length: 30 }, () => leaf) } }))).toEqual([
      'ada',
    ])
  })

  it.each([
    ['both a rule and a list', { rule: buyers, persons: [] }],
    ['neither', {}],
    ['null for both', { rule: null }],
  ])('is one of two ways to make a cohort: %s is refused', async (_what, fields) => {
    expect((await create(fields)).body).toMatchObject({ code: 400, error_code: 1 })
  })

  it('cannot be given to a list, nor a list to a rule', async () => {
    const list = await idOf({ persons: [] })
    expect((await ask('PATCH', `/${list}`, { rule: buyers })).body).toMatchObject({
      code: 409,
      error_code: 9303,
    })
    const rule = await idOf({ rule: buyers })
    expect((await ask('PUT', `/${rule}/members`, { persons: [] })).body).toMatchObject({
      code: 409,
      message: 'This cohort has a rule, which says who belongs to it',
    })
  })

  it.each([
    "' or 1=1 --",
    "\\'",
    '%_',
    '`',
    '{x:String}',
    "') UNION ALL SELECT 1 --",
    'a\nb',
    'é "x" 👋',
    '\\N',
  ])('binds the text %j of names, labels and lists as a value (Q03)', async (text) => {
    await engine.load([
      storedEvent({ clientId: text, name: text, labels: { [text]: text } }),
      storedEvent({ clientId: 'x' }),
    ])
    const equals = { operator: 'equals' as const, values: [text] }
    const cohorts = [
      { rule: { label: { key: text, ...equals } } },
      { rule: { event: { filters: [{ member: `events.label.${text}`, ...equals }] } } },
      { persons: [text] },
      ...(text.includes('\n') ? [] : [{ rule: { event: { events: [text] } } }]),
    ]
    for (const fields of cohorts) expect(await membersOf(await idOf(fields))).toEqual([text])
    for (const statement of engine.statements) expect(statement.sql).not.toContain(text)
  })

  it.each([
    ['a NUL', { persons: ['a\0'] }],
    ['a lone surrogate', { rule: { label: { key: 'k', operator: 'equals', values: ['\ud800'] } } }],
    ['a name of two lines', { name: 'a\nb', rule: buyers }],
    ['V01, another owner', { ownerId: 'a'.repeat(24), companyId: 'b'.repeat(24), rule: buyers }],
  ])('with %s does not come into the store', async (what, fields) => {
    const { status, data } = await create(fields)
    if (what.startsWith('V01'))
      expect(data).toMatchObject({
        companyId: testCompany,
        ownerId: expect.not.stringMatching(/^a{24}$/),
      })
    else expect(status).toBe(400)
  })
})
