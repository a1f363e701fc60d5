import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashSecret } from '../../src/platform/crypto/secrets.ts'
import { type Auth, createAuth, goodPassword, testRedirectUri } from '../support/auth.ts'
import { codeOf, exchange } from '../support/authorization.ts'
import { minute } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let auth: Auth

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  await auth.addUser('ada@example.com')
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

describe('a client that may not refresh', () => {
  let clientId: string
  beforeAll(async () => {
    const grants = ['password', 'authorization_code']
    const client = await auth.clients.createClient({
      name: 'script',
      grants,
      redirectUris: [testRedirectUri],
    })
    clientId = client.id
  })

  test.each([
    [
      'password',
      () =>
        auth.post({
          grant_type: 'password',
          client_id: clientId,
          username: 'ada@example.com',
          password: goodPassword,
        }),
    ],
    [
      'authorization_code',
      async () =>
        exchange(auth, await codeOf(auth, 'ada@example.com', { client_id: clientId }), {
          client_id: clientId,
        }),
    ],
  ] as const)('gets no refresh token from the grant %s', async (_grant, ask) => {
    const reply = await ask()
    expect(reply.statusCode).toBe(200)
    expect(Object.keys(reply.json()).toSorted()).toEqual(['access_token', 'expires_in', 'token_type'])
    const { access_token } = reply.json()
    expect((await auth.get(access_token)).statusCode).toBe(200)
    const { rows } = await relational.pool.query(
      `select session.token_hash from refresh_tokens as session
        join access_tokens as token on token.refresh_token_id = session.id where token.token_hash = $1`,
      [hashSecret(access_token)],
    )
    expect(rows).toEqual([{ token_hash: null }])
    auth.time.advance(60 * minute)
    expect((await auth.get(access_token)).statusCode).toBe(401)
  })

  test('still has its session ended by a second use of the code, and by revocation', async () => {
    const again = async () => codeOf(auth, 'ada@example.com', { client_id: clientId })
    const code = await again()
    const { access_token } = (await exchange(auth, code, { client_id: clientId })).json()
    await exchange(auth, code, { client_id: clientId })
    const { access_token: token } = (await exchange(auth, await again(), { client_id: clientId })).json()
    await auth.app.inject({
      method: 'POST',
      url: '/v2/oauth/revoke',
      payload: { client_id: clientId, token },
    })
    auth.cache.forget()
    expect((await auth.get(access_token)).statusCode).toBe(401)
    expect((await auth.get(token)).statusCode).toBe(401)
  })
})
