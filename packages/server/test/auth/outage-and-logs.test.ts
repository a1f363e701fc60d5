import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let auth: Auth
const lines: string[] = []

const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational, { logger })
})

afterAll(() => auth.app.close())

test('a refused sign-in is logged with who and where, and with nothing that was typed', async () => {
  const user = await auth.addUser('ada@example.com')
  const { access_token, refresh_token } = (await auth.signIn('ada@example.com')).json()
  await auth.signIn('ada@example.com', 'a wrong password')
  await auth.signIn('a password in the wrong field', goodPassword)
  await auth.refresh(refresh_token)
  expect(lines).toHaveLength(2)
  expect(lines[0]).toContain(user.id)
  expect(lines[0]).toContain('192.0.2.1')
  const typed = ['ada@example.com', 'password', goodPassword, access_token, refresh_token]
  for (const secret of typed) expect(lines.join()).not.toContain(secret)
})

test('while the store is away tokens are neither given nor believed: 503, to be tried again', async () => {
  const { access_token, refresh_token } = (await auth.signIn('ada@example.com')).json()
  await relational.close()
  const replies = [
    await auth.signIn('ada@example.com'),
    await auth.refresh(refresh_token),
    await auth.get(access_token),
  ]
  for (const reply of replies) {
    expect(reply.statusCode).toBe(503)
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
    expect(reply.json()).toMatchObject({ status: 'fail', code: 503 })
    expect(reply.body).not.toContain('pool')
  }
  expect(replies[0]?.json().error).toBe('temporarily_unavailable')
})
