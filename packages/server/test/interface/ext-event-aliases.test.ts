import { builtInEvents } from '@millrace/contract/events/names.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AnalyticsApp, openAnalyticsApp } from '../support/analytics-settings.ts'

let opened: AnalyticsApp

beforeAll(async () => {
  opened = await openAnalyticsApp()
})

beforeEach(async () => {
  await opened.relational.pool.query('delete from event_aliases')
  await opened.app.audit()
})

afterAll(() => opened.close())

const pathOf = (name: string) => `/event-aliases/${encodeURIComponent(name)}`
const put = (name: string, alias: unknown, token?: string) =>
  opened.call('PUT', pathOf(name), { alias }, token)
const remove = (name: string, token?: string) => opened.call('DELETE', pathOf(name), undefined, token)

/** Pairs of name and alias. */
async function pairs(token?: string): Promise<unknown[][]> {
  const { data } = await opened.call('GET', '/event-aliases', undefined, token)
  return data.map(({ name, alias }) => [name, alias])
}

test('an alias is set, replaced, listed by name and deleted, and each change is recorded', async () => {
  const { status, data } = await put('sign_up', 'registration')
  expect(status).toBe(200)
  expect(data).toEqual({
    name: 'sign_up',
    alias: 'registration',
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  })
  expect((await opened.call('GET', '/event-aliases')).data).toEqual([data])
  expect(await put('sign_up', 'joined')).toMatchObject({
    data: { alias: 'joined', createdAt: data.createdAt },
  })
  await put('Zebra', 'a')
  await put('apple', 'a')
  expect(await pairs()).toEqual([
    ['Zebra', 'a'],
    ['apple', 'a'],
    ['sign_up', 'joined'],
  ])
  await opened.app.audit()
  expect(await remove('sign_up')).toMatchObject({ status: 200, data: {} })
  expect(await opened.app.audit()).toMatchObject([
    { action: 'event-alias-delete', outcome: 'success', target_name: 'sign_up', details: { from: 'joined' } },
  ])
  expect(await pairs()).toHaveLength(2)
  expect(await remove('sign_up')).toMatchObject({ status: 404, error_code: 9050, data: { name: 'sign_up' } })
})

test('what was read can be sent back, and leaves no entry', async () => {
  const { data } = await put('sign_up', 'registration')
  await opened.app.audit()
  // The address says whose alias it is.
  const body = { ...data, name: 'another' }
  expect(await opened.call('PUT', pathOf('sign_up'), body)).toMatchObject({ status: 200, data })
  expect(await opened.app.audit()).toEqual([])
  expect(await pairs()).toEqual([['sign_up', 'registration']])
})

test.each([
  'a/b',
  'a%2Fb',
  'é "x"',
  "o'ld\\",
  '__proto__',
  'a?b#c',
  ' spaced ',
  'x'.repeat(256),
  '€'.repeat(256),
])('the name %j is one of an event as any other', async (name) => {
  expect(await put(name, `${name.slice(0, 200)} now`)).toMatchObject({ status: 200, data: { name } })
  expect(await pairs()).toEqual([[name, `${name.slice(0, 200)} now`]])
  expect(await remove(name)).toMatchObject({ status: 200 })
})

test.each([...builtInEvents])('G08: %s is built in and is neither renamed nor an alias', async (name) => {
  const refused = (path: string) => ({ status: 400, error_code: 1, data: { errors: [{ path }] } })
  expect(await put(name, 'other')).toMatchObject(refused('name'))
  expect(await put('other', name)).toMatchObject(refused('alias'))
  expect(await pairs()).toEqual([])
})

test.each(['workflow_click', 'workflow_display'])(
  '%s keeps its name, which others may take',
  async (name) => {
    expect(await put(name, 'other')).toMatchObject({ status: 400, data: { errors: [{ path: 'name' }] } })
    expect(await put('banner_click', name)).toMatchObject({ status: 200 })
  },
)

test.each([
  [undefined],
  [null],
  [''],
  ['   '],
  ['a\nb'],
  ['a\u0000'],
  ['\ud800'],
  [7],
  ['x'.repeat(257)],
  [['registration']],
  ['sign_up'],
])('%j is no alias of sign_up', async (alias) => {
  expect(await put('sign_up', alias)).toMatchObject({ status: 400 })
  expect(await pairs()).toEqual([])
})

test.each(['%00', '%0A', '%20', 'x'.repeat(257)])('%j in the address is no name', async (text) => {
  expect(await opened.call('PUT', `/event-aliases/${text}`, { alias: 'a' })).toMatchObject({
    status: 400,
    error_code: 1,
  })
})

test('unknown fields are refused', async () => {
  expect(await opened.call('PUT', pathOf('a'), { alias: 'b', companyId: 'c' })).toMatchObject({
    status: 400,
    data: { errors: [{ path: 'companyId' }] },
  })
})

describe('G08: chains and circles', () => {
  beforeEach(() => put('first', 'second'))

  test('an alias is no name that has one', async () => {
    expect(await put('zero', 'first')).toMatchObject({
      status: 409,
      error_code: 9051,
      data: { name: 'first', alias: 'second' },
    })
    expect((await put('zero', 'first')).message).toContain('"first" answers as "second" itself')
  })

  test('a name that another answers under gets none', async () => {
    for (const alias of ['third', 'first'])
      expect(await put('second', alias)).toMatchObject({ status: 409, error_code: 9051 })
    expect(await pairs()).toEqual([['first', 'second']])
  })

  test('a second renaming takes the first name along, then the other', async () => {
    expect(await put('first', 'third')).toMatchObject({ status: 200 })
    expect(await put('second', 'third')).toMatchObject({ status: 200 })
    expect(await put('third', 'fourth')).toMatchObject({ status: 409 })
    await remove('first')
    await remove('second')
    expect(await put('third', 'first')).toMatchObject({ status: 200 })
  })

  test('neither comes of settings at once', async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b, c] = ['a', 'b', 'c'].map((letter) => `${letter}${round}`) as [string, string, string]
      const chain = await Promise.all([put(a, b), put(b, c)])
      expect(chain.map(({ status }) => status).sort()).toEqual([200, 409])
      const [x, y] = [`x${round}`, `y${round}`]
      const circle = await Promise.all([put(x, y), put(y, x)])
      expect(circle.map(({ status }) => status).sort()).toEqual([200, 409])
    }
    const all = await pairs()
    const names = new Set(all.map(([name]) => name))
    expect(all.filter(([, alias]) => names.has(alias))).toEqual([])
  })
})

test('G07: a company has 200 at most, no matter who sets one at once, and may change each of them', async () => {
  await opened.relational.pool.query(
    `insert into event_aliases (company_id, name, alias)
     select $1, 'event ' || n, 'all' from generate_series(1, 198) n`,
    [opened.app.companyId],
  )
  const replies = await Promise.all(['a', 'b', 'c', 'd'].map((name) => put(name, 'all')))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409])
  expect(replies.find(({ status }) => status === 409)).toMatchObject({
    error_code: 9052,
    data: { limit: 200 },
  })
  expect(await put('event 7', 'other')).toMatchObject({ status: 200 })
})

test('aliases are those of the caller’s company alone', async () => {
  const { token } = opened.stranger
  await put('sign_up', 'registration')
  expect(await pairs(token)).toEqual([])
  expect(await remove('sign_up', token)).toMatchObject({ status: 404, error_code: 9050 })
  // Its own chain is its own affair.
  expect(await put('registration', 'sign_up', token)).toMatchObject({ status: 200 })
  expect(await pairs()).toEqual([['sign_up', 'registration']])
})

test('are read with Statistics: access and changed with Company: update', async () => {
  const analyst = await opened.app.personWith('statistics:access')
  expect(await pairs(analyst.token)).toEqual([])
  expect(await put('a', 'b', analyst.token)).toMatchObject({ status: 403 })
  expect(await remove('a', analyst.token)).toMatchObject({ status: 403 })
})
