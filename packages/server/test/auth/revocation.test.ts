import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let auth: Auth

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

async function livingSessions(email: string): Promise<number> {
  const { rows } = await relational.pool.query(
    `select (select count(*) from refresh_tokens where user_id = u.id)
      + (select count(*) from access_tokens a join refresh_tokens r on r.id = a.refresh_token_id
         where r.user_id = u.id) as n
    from users u where email = $1`,
    [email],
  )
  return Number(rows[0].n)
}

test('a sign-in or refresh that is under way when the password changes leaves no session', async () => {
  await auth.addUser('ada@example.com')
  for (let round = 0; round < 25; round++) {
    const [before, after] =
      round % 2 === 0 ? [goodPassword, 'the other password'] : ['the other password', goodPassword]
    const { refresh_token } = (await auth.signIn('ada@example.com', before)).json()
    await Promise.all([
      ...Array.from({ length: 6 }, () => auth.signIn('ada@example.com', before)),
      ...Array.from({ length: 3 }, () => auth.refresh(refresh_token)),
      auth.accounts.setPassword('ada@example.com', after),
      // A user who still gives the old password fails, and must not be slowed down by it here.
      relational.pool.query('delete from leaky_buckets'),
    ])
    expect(await livingSessions('ada@example.com')).toBe(0)
  }
})

test('a sign-in or refresh that is under way when the user is disabled leaves no session', async () => {
  for (let round = 0; round < 10; round++) {
    const email = `user${round}@example.com`
    await auth.addUser(email)
    const { refresh_token } = (await auth.signIn(email)).json()
    await Promise.all([
      ...Array.from({ length: 4 }, () => auth.signIn(email)),
      ...Array.from({ length: 3 }, () => auth.refresh(refresh_token)),
      auth.accounts.disableUser(email),
    ])
    expect(await livingSessions(email)).toBe(0)
  }
})

test('a row of one company cannot point into another', async () => {
  const user = await auth.addUser('zoe@example.com')
  const { insertCompany } = await import(
    '../../src/features/identity/people/installation/operator-account-service.ts'
  )
  const other = await relational.transaction((tx) => insertCompany(tx, 'Other'))
  const foreignRole =
    'update users set role_id = (select id from roles where company_id = $1 limit 1) where id = $2'
  await expect(relational.pool.query(foreignRole, [other.companyId, user.id])).rejects.toThrow(/foreign key/)
  const foreignTeam = 'insert into team_members (company_id, team_id, user_id) values ($1, $2, $3)'
  for (const companyId of [auth.companyId, other.companyId]) {
    const inserted = relational.pool.query(foreignTeam, [companyId, other.teamId, user.id])
    await expect(inserted).rejects.toThrow(/foreign key/)
  }
})
