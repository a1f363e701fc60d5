import { createClient, type Tokens } from '@millrace/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { day, hour, minute } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let auth: Auth
let baseUrl: string
let users = 0
let username: string

beforeAll(async () => {
  database = await createTestDatabase()
  auth = await createAuth(database)
  baseUrl = await auth.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await auth.app.close()
  await database.close()
})
beforeEach(async () => {
  username = `ada${++users}@example.com`
  await auth.addUser(username)
})

/** Counts requests by their path, and can hold those to the token service back. */
function countingFetch() {
  const counts: Record<string, number> = {}
  const counted = {
    counts,
    hold: undefined as Promise<void> | undefined,
    fetch: (async (input, init) => {
      const { pathname } = new URL(String(input))
      counts[pathname] = (counts[pathname] ?? 0) + 1
      if (pathname === '/v2/auth/token') await counted.hold
      return fetch(input, init)
    }) as typeof fetch,
  }
  return counted
}

const tokenPath = '/v2/auth/token'
const profilePath = '/v2/entities/users/me'
const now = () => auth.time.clock.now()

/** A client of the user with a password, which shares the time of the service. */
function signedIn(options: { onTokens?: (tokens: Tokens) => void | Promise<void>; now?: () => number } = {}) {
  const counting = countingFetch()
  const client = createClient({
    baseUrl,
    clientId: auth.clientId,
    username,
    password: goodPassword,
    fetch: counting.fetch,
    now,
    ...options,
  })
  return { client, ...counting, counting }
}

describe('the tokens of a client', () => {
  it('are asked for with the first call, once for calls at the same time', async () => {
    const { client, counts } = signedIn()
    expect(counts).toEqual({})
    const profiles = await Promise.all(Array.from({ length: 8 }, () => client.readProfile()))
    expect(profiles.map(({ email }) => email)).toEqual(Array(8).fill(username))
    expect(counts).toEqual({ [tokenPath]: 1, [profilePath]: 8 })
  })

  it('are renewed before the access token ends, once for calls at the same time', async () => {
    const { client, counts } = signedIn()
    await client.readProfile()
    auth.time.advance(hour - 30_000)
    await Promise.all([client.readProfile(), client.readProfile(), client.readProfile()])
    expect(counts).toEqual({ [tokenPath]: 2, [profilePath]: 4 })
  })

  it('are not renewed while the access token is valid', async () => {
    const { client, counts } = signedIn()
    await client.readProfile()
    auth.time.advance(hour - 2 * minute)
    await client.readProfile()
    expect(counts).toEqual({ [tokenPath]: 1, [profilePath]: 2 })
  })

  it('are renewed where the service refuses an access token, once for calls at the same time', async () => {
    // The time of this client stands still: it learns of the end of its token from the service.
    const start = now()
    const { client, counts } = signedIn({ now: () => start })
    await client.readProfile()
    auth.time.advance(hour + minute)
    const profiles = await Promise.all([client.readProfile(), client.readProfile(), client.readProfile()])
    expect(profiles).toHaveLength(3)
    expect(counts).toEqual({ [tokenPath]: 2, [profilePath]: 7 })
  })

  it('come from the password again where the refresh token has expired', async () => {
    const { client, counts } = signedIn()
    await client.readProfile()
    auth.time.advance(31 * day)
    expect((await client.readProfile()).email).toBe(username)
    expect(counts).toEqual({ [tokenPath]: 3, [profilePath]: 2 })
  })

  it('are given to onTokens, before the call that waits for them goes on', async () => {
    const kept: Tokens[] = []
    const { client } = signedIn({
      async onTokens(tokens) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        kept.push(tokens)
      },
    })
    await client.readProfile()
    expect(kept).toEqual([
      {
        accessToken: expect.any(String),
        refreshToken: expect.any(String),
        expiresAt: now() + hour,
      },
    ])
  })

  it('fail the call with what onTokens throws, and are used by the next', async () => {
    const failure = new Error('the disk is full')
    const { client, counts } = signedIn({
      onTokens: () => {
        throw failure
      },
    })
    await expect(client.readProfile()).rejects.toBe(failure)
    expect((await client.readProfile()).email).toBe(username)
    expect(counts[tokenPath]).toBe(1)
  })

  it('are renewed for the others when the caller that began it leaves', async () => {
    const { client, counting } = signedIn()
    let release = () => {}
    counting.hold = new Promise((resolve) => {
      release = resolve
    })
    const leaving = new AbortController()
    const first = client.readProfile({}, { signal: leaving.signal })
    const second = client.readProfile()
    leaving.abort(new Error('left'))
    await expect(first).rejects.toThrow('left')
    release()
    expect((await second).email).toBe(username)
    expect(counting.counts).toEqual({ [tokenPath]: 1, [profilePath]: 1 })
  })

  it('say that the password is wrong', async () => {
    const client = createClient({ baseUrl, clientId: auth.clientId, username, password: 'a wrong password' })
    await expect(client.readProfile()).rejects.toMatchObject({
      name: 'AuthenticationError',
      operation: 'createToken',
      status: 401,
      errorName: 'invalidCredentials',
    })
  })

  it('say that there are none, without a request', async () => {
    const counting = countingFetch()
    const client = createClient({ baseUrl, fetch: counting.fetch })
    await expect(client.readProfile()).rejects.toThrow('needs a token')
    expect(counting.counts).toEqual({})
  })
})

describe('a client with a refresh token', () => {
  const signIn = async () => (await auth.signIn(username)).json() as { refresh_token: string }

  it('goes on from the one that it was given', async () => {
    const { refresh_token: refreshToken } = await signIn()
    const client = createClient({ baseUrl, clientId: auth.clientId, refreshToken, now })
    expect((await client.readProfile()).email).toBe(username)
  })

  it('uses and hands on the new one where the service rotates them', async () => {
    const { id: clientId } = await auth.clients.createClient({
      name: 'rotating',
      grants: ['password', 'refresh_token'],
      redirectUris: [],
      rotatesRefreshTokens: true,
    })
    const answer = await auth.post({
      grant_type: 'password',
      client_id: clientId,
      username,
      password: goodPassword,
    })
    const given = (answer.json() as { refresh_token: string }).refresh_token
    const kept: (string | undefined)[] = []
    const client = createClient({
      baseUrl,
      clientId,
      refreshToken: given,
      now,
      onTokens: ({ refreshToken }) => void kept.push(refreshToken),
    })
    for (let i = 0; i < 3; i++) {
      await client.readProfile()
      auth.time.advance(hour)
    }
    expect(new Set([given, ...kept]).size).toBe(4)
  })

  it('says that the user has to sign in again when it has expired', async () => {
    const { refresh_token: refreshToken } = await signIn()
    auth.time.advance(31 * day)
    const client = createClient({ baseUrl, clientId: auth.clientId, refreshToken, now })
    await expect(client.readProfile()).rejects.toMatchObject({
      name: 'AuthenticationError',
      message: 'The refresh token is not valid or has expired: the user has to sign in again',
      cause: { errorName: 'invalidGrant' },
    })
  })

  it('ends its session', async () => {
    const { refresh_token: refreshToken } = await signIn()
    const client = createClient({ baseUrl, clientId: auth.clientId, refreshToken, now })
    await client.readProfile()
    await client.signOut()
    await expect(client.readProfile()).rejects.toThrow('The client has signed out')
    expect((await auth.refresh(refreshToken)).statusCode).toBe(400)
  })
})

describe('a client with access tokens', () => {
  const signIn = async () => (await auth.signIn(username)).json() as { access_token: string }

  it('says that its only one has ended', async () => {
    const { access_token: accessToken } = await signIn()
    const client = createClient({ baseUrl, accessToken })
    expect((await client.readProfile()).email).toBe(username)
    auth.time.advance(2 * hour)
    await expect(client.readProfile()).rejects.toMatchObject({
      name: 'AuthenticationError',
      message: expect.stringContaining('no longer valid'),
    })
  })

  it('says that its only one is refused or empty', async () => {
    const refused = (accessToken: string) => createClient({ baseUrl, accessToken }).readProfile()
    await expect(refused('x'.repeat(43))).rejects.toThrow('The service refuses the access token')
    await expect(refused('')).rejects.toThrow('accessToken must be a text that is not empty')
  })

  it('asks for another one where the service refuses it, and gives up when that is refused too', async () => {
    const { access_token: good } = await signIn()
    const refused: (string | undefined)[] = []
    const client = createClient({
      baseUrl,
      getAccessToken: (token) => {
        refused.push(token)
        return token === undefined ? 'x'.repeat(43) : good
      },
    })
    expect((await client.readProfile()).email).toBe(username)
    expect(refused).toEqual([undefined, 'x'.repeat(43)])
    const hopeless = createClient({ baseUrl, getAccessToken: async () => 'y'.repeat(43) })
    await expect(hopeless.readProfile()).rejects.toMatchObject({ errorName: 'unauthenticated', attempts: 2 })
  })
})
