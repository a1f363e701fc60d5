import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccountsApp, createAccountsApp, type Person } from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let app: AccountsApp
let nobody: Person

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
  nobody = await app.person((await app.role([])).name)
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

async function named(firstName: string, lastName = ''): Promise<Person> {
  const person = await app.person()
  await app.call(person.token, 'PATCH', '/users/me', { firstName, lastName })
  return person
}

const list = async (query: string) => (await app.call(nobody.token, 'GET', `/people${query}`)).data

test('a role without permissions sees the names of its company, and no address', async () => {
  const ada = await named('Ada', 'Lovelace')
  const zoe = await named('', 'Zoë')
  const found = await list(`?ids=${ada.id.toUpperCase()}&ids=${zoe.id}&ids=${nobody.id}`)
  expect(found).toEqual([
    { id: ada.id, name: 'Ada Lovelace' },
    { id: zoe.id, name: 'Zoë' },
    { id: nobody.id, name: null },
  ])
  expect(JSON.stringify(await list('?perPage=100'))).not.toContain('@')
})

test('is searched by name, whatever its case, letter by letter', async () => {
  const percent = await named('50% off')
  await named('500 off')
  expect(await list('?q=0%25%20OFF')).toEqual([{ id: percent.id, name: '50% off' }])
  expect(await list('?q=_____________________')).toEqual([])
})

test('those of another company and those who are deleted are not among them', async () => {
  const stranger = await app.person('viewer', app.other.companyId)
  const gone = await named('Gone')
  const admin = await app.person('admin')
  expect(await app.call(admin.token, 'DELETE', `/users/${gone.id}`)).toMatchObject({ status: 200 })
  expect(await list(`?ids=${stranger.id}&ids=${gone.id}`)).toEqual([])
})

test('is read page by page', async () => {
  const pages = await Promise.all([1, 2].map((page) => list(`?perPage=1&page=${page}`)))
  expect(new Set(pages.map(([first]) => first?.id)).size).toBe(2)
  expect(await app.call(nobody.token, 'GET', '/people?ids=nobody')).toMatchObject({ status: 400 })
})
