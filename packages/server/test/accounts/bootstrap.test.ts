import { afterEach, beforeEach, expect, test } from 'vitest'
import { insertDatasource } from '../../src/features/datasources/datasource-service.ts'
import { bootstrap } from '../../src/features/identity/people/installation/bootstrap.ts'
import { createClientService } from '../../src/features/identity/sessions/clients/client-service.ts'
import { createClientStore } from '../../src/features/identity/sessions/clients/client-store.ts'
import { newId } from '../../src/platform/ids.ts'
import { cheapPasswords, createAuth } from '../support/auth.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase

beforeEach(async () => {
  relational = await createTestDatabase()
})

afterEach(() => relational.close())

const dependencies = () => ({
  relational,
  passwords: cheapPasswords(),
  createClient: (queries: Parameters<typeof createClientStore>[0], { name }: { name: string }) =>
    createClientService(createClientStore(queries)).createClient({ name, grants: [], redirectUris: [] }),
  createDatasource: insertDatasource,
})

async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const table of [
    'companies',
    'users',
    'roles',
    'teams',
    'team_members',
    'oauth_clients',
    'datasources',
    'installation',
  ]) {
    const { rows } = await relational.pool.query(`select count(*)::int as n from ${table}`)
    found[table] = rows[0].n
  }
  return found
}

const one = {
  companies: 1,
  users: 1,
  roles: 3,
  teams: 1,
  team_members: 1,
  oauth_clients: 1,
  datasources: 1,
  installation: 1,
}

test('the first start makes everything that a service begins with; later ones find it', async () => {
  const first = await bootstrap(dependencies(), { email: 'Root@Example.com', password: undefined })
  expect(first).toMatchObject({
    isNew: true,
    adminEmail: 'root@example.com',
    datasourceId: expect.any(String),
  })
  expect(first.generatedPassword).toMatch(/^([a-z2-9]{5}-){3}[a-z2-9]{5}$/)
  expect(await counts()).toEqual(one)
  const second = await bootstrap(dependencies(), { email: 'other@example.com', password: 'irrelevant now' })
  expect(second).toEqual({ ...first, isNew: false, generatedPassword: undefined })
  expect(await counts()).toEqual(one)

  const auth = await createAuth(relational)
  const body = { grant_type: 'password', client_id: first.clientId, username: 'root@example.com' }
  const reply = await auth.post({ ...body, password: first.generatedPassword })
  expect(reply.statusCode).toBe(200)
  expect((await auth.get(reply.json().access_token, '/v2/entities/company')).statusCode).toBe(200)
  await auth.app.close()
})

test('takes the password it is given and does not repeat it', async () => {
  const made = await bootstrap(dependencies(), { email: 'root@example.com', password: 'the one I chose' })
  expect(made.generatedPassword).toBeUndefined()
  expect(JSON.stringify(made)).not.toContain('the one I chose')
})

test('eight processes that start together make one company', async () => {
  const made = await Promise.all(
    Array.from({ length: 8 }, () =>
      bootstrap(dependencies(), { email: 'root@example.com', password: undefined }),
    ),
  )
  expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
  expect(made.filter(({ generatedPassword }) => generatedPassword)).toHaveLength(1)
  expect(new Set(made.map(({ companyId, clientId }) => companyId + clientId)).size).toBe(1)
  expect(await counts()).toEqual(one)
})

test('an interruption leaves nothing behind and the next start begins again', async () => {
  const failing = { ...dependencies(), createDatasource: () => Promise.reject(new Error('cut off')) }
  await expect(bootstrap(failing, { email: 'root@example.com', password: undefined })).rejects.toThrow(
    'cut off',
  )
  expect(Object.values(await counts())).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  expect((await bootstrap(dependencies(), { email: 'root@example.com', password: undefined })).isNew).toBe(
    true,
  )
})

test('a later start gives built-in roles what they lack and leaves other roles alone', async () => {
  const { companyId } = await bootstrap(dependencies(), { email: 'root@example.com', password: undefined })
  const count = async () => {
    const { rows } = await relational.pool.query('select count(*)::int as n from role_permissions')
    return rows[0].n
  }
  const before = await count()
  await relational.pool.query("delete from role_permissions where resource = 'workflow'")
  await relational.pool.query("insert into roles (id, company_id, name) values ($1, $2, 'own')", [
    newId(),
    companyId,
  ])
  await bootstrap(dependencies(), { email: 'root@example.com', password: undefined })
  expect(await count()).toBe(before)
})
