import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { createDatasourceStore } from '../../src/features/datasources/datasource-store.ts'
import { createCompanyStore } from '../../src/features/identity/people/company/company-store.ts'
import { createOperatorAccountService } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { newId } from '../../src/platform/ids.ts'
import { type AccountsApp, asOwner, createAccountsApp, type Person } from '../support/accounts.ts'
import { cheapPasswords, goodPassword } from '../support/auth.ts'
import { oneTimeCode, turnOnAuthenticator } from '../support/authenticator.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let app: AccountsApp
let admin: Person
let accounts: ReturnType<typeof createOperatorAccountService>

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
  admin = await app.person('admin')
  accounts = createOperatorAccountService({ relational, passwords: cheapPasswords(), recordAudit })
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const signIn = (username: string) =>
  app.auth.post({ grant_type: 'password', client_id: app.auth.clientId, username, password: goodPassword })
const nextRun = async (id: string) =>
  (await relational.pool.query('select next_run_at from saved_queries where id = $1', [id])).rows[0]
    .next_run_at

async function scheduledQuery(): Promise<{ id: string; at: Date }> {
  const id = newId()
  const at = new Date('2030-02-28T05:00:00Z')
  await relational.pool.query(
    `insert into saved_queries (id, company_id, name, owner_id, queries, next_run_at) values ($1, $2, 'Sales', $3, '[]', $4)`,
    [id, app.companyId, admin.id, at],
  )
  return { id, at }
}

test('an administrator closes the company by its name and a code, and an operator opens it as it was', async () => {
  const { companyId, auth } = app
  const { secret } = await turnOnAuthenticator(auth, admin.token)
  const other = await app.person('viewer')
  const datasourceId = newId()
  await relational.pool.query(`insert into datasources (id, company_id, name) values ($1, $2, 'Shop')`, [
    datasourceId,
    companyId,
  ])
  const { id, at } = await scheduledQuery()
  const close = (confirm: string, code: string) =>
    app.call(admin.token, 'POST', '/company/close', { confirm, code })

  expect(await close('acme', oneTimeCode(auth, secret))).toMatchObject({
    status: 409,
    data: { confirm: 'Acme' },
  })
  expect(await close('Acme', 'abcdef')).toMatchObject({ status: 400, error_code: 2013 })
  expect((await app.call(other.token, 'GET', '/company')).status).toBe(200)
  await app.auth.takeMails()

  const closed = await close('Acme', oneTimeCode(auth, secret))
  expect(closed).toMatchObject({ status: 200, data: { id: companyId } })
  const { closedAt, removedAfter } = closed.data as unknown as Record<string, string>
  expect(Date.parse(removedAfter ?? '') - Date.parse(closedAt ?? '')).toBe(7 * 86_400_000)
  expect((await app.auth.takeMails()).map(({ to, subject }) => [to, subject])).toContainEqual([
    admin.email,
    'Acme was closed on Millrace',
  ])

  // No token works, no user signs in, nothing is taken, nothing becomes due.
  auth.time.advance(1_000)
  for (const { token } of [admin, other]) expect((await app.call(token, 'GET', '/company')).status).toBe(401)
  expect((await signIn(other.email)).statusCode).toBe(401)
  expect(await createDatasourceStore(relational.db).findState(datasourceId)).toBeUndefined()
  expect((await nextRun(id)).getTime()).toBeGreaterThan(at.getTime() + 365 * 86_400_000)
  expect(await accounts.listCompanies()).toContainEqual({ id: companyId, name: 'Acme', removedAfter })

  // What was meant once is not done twice.
  await expect(accounts.closeCompany(companyId, 'Acme')).rejects.toMatchObject({ errorName: 'notFound' })
  expect(await accounts.openCompany(companyId)).toEqual({ id: companyId, name: 'Acme' })
  await expect(accounts.openCompany(companyId)).rejects.toThrow(/must be closed, for less than 7 days/)
  auth.time.advance(1_000)
  expect((await app.call(other.token, 'GET', '/company')).status).toBe(200)
  expect((await signIn(other.email)).statusCode).toBe(200)
  expect(await createDatasourceStore(relational.db).findState(datasourceId)).toMatchObject({ companyId })
  expect(await nextRun(id)).toEqual(at)
  const { rows } = await relational.pool.query(
    `select action, actor_kind, outcome from audit_entries where action like 'company-%' order by at`,
  )
  expect(rows.map((row) => Object.values(row).join(' '))).toEqual([
    ...['company-close user failure', 'company-close user failure', 'company-close user success'],
    'company-open operator success',
  ])
})

test('the service closes a company now and never in the past, and removes none before its days are over', async () => {
  const { companyId } = app
  await expect(
    relational.pool.query(`update companies set closed_at = now() - interval '8 days' where id = $1`, [
      companyId,
    ]),
  ).rejects.toThrow(/is closed now or not at all/)
  const store = createCompanyStore(relational.db)
  expect(await store.removeClosed(companyId)).toBe(false)
  await accounts.closeCompany(companyId, 'Acme')
  await expect(
    relational.pool.query(`update companies set closed_at = now() - interval '8 days' where id = $1`, [
      companyId,
    ]),
  ).rejects.toThrow(/is closed now or not at all/)
  expect(await store.removeClosed(companyId)).toBe(false)
  expect(await store.listToRemove()).toEqual([])
  await asOwner(
    relational.owner,
    `alter table companies disable trigger companies_closed;
     update companies set closed_at = now() - interval '7 days 1 minute' where id = '${companyId}';
     alter table companies enable trigger companies_closed`,
  )
  await expect(accounts.openCompany(companyId)).rejects.toThrow(/must be closed, for less than 7 days/)
  expect(await store.listToRemove()).toEqual([companyId])
  expect(await store.removeClosed(companyId)).toBe(true)
  expect((await accounts.listCompanies()).map(({ name }) => name)).not.toContain('Acme')
})
