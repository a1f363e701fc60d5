import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AccountsApp, createAccountsApp, type Person } from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

/** Teams whose resources a user may use, by where they stand. */

let relational: TestDatabase
let app: AccountsApp
let person: Person

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
})

beforeEach(async () => {
  person = await app.person()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

async function reached(...teams: string[]): Promise<string[]> {
  await app.putInto(person.id, ...teams)
  app.cache.forget()
  return [...((await app.cache.find(person.token))?.teamIds ?? [])]
}

test('a member reaches all teams below, and none above or beside', async () => {
  const top = await app.team()
  const left = await app.team([top])
  const right = await app.team([top])
  const bottom = await app.team([left])
  expect(await reached(top)).toEqual([top, left, right, bottom].sort())
  expect(await reached(left)).toEqual([left, bottom].sort())
  expect(await reached(right)).toEqual([right])
  expect(await reached(bottom)).toEqual([bottom])
})

test('a team below two others is reached from both, once', async () => {
  const top = await app.team()
  const left = await app.team([top])
  const right = await app.team([top])
  const bottom = await app.team([left, right])
  expect(await reached(top)).toEqual([top, left, right, bottom].sort())
  expect(await reached(left, right)).toEqual([left, right, bottom].sort())
  const other = await app.team()
  const shared = await app.team([other, left])
  expect(await reached(other)).toEqual([other, shared].sort())
})

test('members of a team that reaches its ancestors reach those above, and nothing beside', async () => {
  const top = await app.team()
  const middle = await app.team([top])
  const beside = await app.team([middle])
  const own = await app.team([middle], true)
  const below = await app.team([own])
  expect(await reached(own)).toEqual([own, below, middle, top].sort())
  expect(await reached(below)).toEqual([below])
  expect(await reached(beside)).toEqual([beside])
})

test('up to but without the first ancestor that reaches its own ones too', async () => {
  const top = await app.team()
  const flagged = await app.team([top], true)
  const middle = await app.team([flagged])
  const own = await app.team([middle], true)
  expect(await reached(own)).toEqual([own, middle].sort())
  expect(await reached(flagged)).toEqual([flagged, middle, own, top].sort())
  const right = await app.team()
  const two = await app.team([flagged, right], true)
  expect(await reached(two)).toEqual([two, right].sort())
})

test('an ancestor that one way shuts off is reached by another way', async () => {
  const top = await app.team()
  const shut = await app.team([top], true)
  const open = await app.team([top])
  const own = await app.team([shut, open], true)
  expect(await reached(own)).toEqual([own, open, top].sort())
})

test('the flag of a team a user is not in gives nothing', async () => {
  const top = await app.team()
  const middle = await app.team([top])
  const flagged = await app.team([middle], true)
  expect(await reached(middle)).toEqual([middle, flagged].sort())
})

test('a user in several teams reaches what each of them does', async () => {
  const [a, b] = [await app.team(), await app.team()]
  const [belowA, aboveB] = [await app.team([a]), await app.team()]
  const ownB = await app.team([aboveB], true)
  expect(await reached(a, b, ownB)).toEqual([a, b, belowA, aboveB, ownB].sort())
})

test('relations and the flag work with the next request, and a new member too', async () => {
  const admin = await app.person('admin')
  const [top, own] = [await app.team(), await app.team()]
  expect(await reached(top)).toEqual([top])
  const change = (body: Record<string, unknown>) => app.call(admin.token, 'PATCH', `/teams/${own}`, body)
  const now = async (): Promise<string[]> => {
    app.cache.forget()
    return [...((await app.cache.find(person.token))?.teamIds ?? [])]
  }
  await change({ parentIds: [top] })
  expect(await now()).toEqual([top, own].sort())
  await change({ parentIds: [] })
  expect(await now()).toEqual([top])
  await change({ members: { add: [person.id] } })
  expect(await now()).toEqual([top, own].sort())
  await app.putInto(person.id, own)
  await change({ parentIds: [top] })
  expect(await now()).toEqual([own])
  await change({ reachesAncestors: true })
  expect(await now()).toEqual([top, own].sort())
})
