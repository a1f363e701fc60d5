import { createClient, MillraceError } from '@millrace/sdk'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import {
  hangUp,
  json,
  openScriptedServer,
  page,
  type ScriptedServer,
  silence,
} from '../support/scripted-server.ts'

let server: ScriptedServer

beforeAll(async () => {
  server = await openScriptedServer()
})
afterAll(async () => {
  await server.close()
})

const envelope = (data: unknown) => ({
  status: 'success',
  program: 'millrace',
  version: '1.0.0',
  datetime: '2026-01-31T12:00:00.000Z',
  message: 'ok',
  code: 200,
  data,
})
const failure = (error_code: number, code: number, data: unknown = {}) => ({
  ...envelope(data),
  status: 'fail',
  code,
  message: 'it failed',
  error_code,
})
const done = json(envelope({ name: 'Welcome' }))
const unavailable = json(failure(17, 503, { retryAfter: 0 }), 503, { 'retry-after': '0' })
const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }
const workflow = { name: 'Welcome', resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba1'] }
const params = { id: '65f0c0ffee5ca1ab1e0ddba1' }

const clientWith = (options: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ baseUrl: server.baseUrl, accessToken: 'a-token', ...options })

it('reads no more than the beginning of a failure that does not end', async () => {
  let bytes = 0
  const chunk = new Uint8Array(65_536).fill(97)
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      bytes += chunk.length
      if (bytes > 64 * 1024 * 1024) controller.error(new Error('all of it was read'))
      else controller.enqueue(chunk)
    },
  })
  const client = clientWith({ fetch: async () => new Response(endless, { status: 404 }) })
  await expect(client.readProfile()).rejects.toMatchObject({ name: 'UnexpectedReplyError', status: 404 })
  expect(bytes).toBeLessThan(8 * 1024 * 1024)
})

describe('a call is sent again', () => {
  const client = () => clientWith()

  it.each([
    ['GET', () => client().readProfile()],
    ['DELETE', () => client().deleteWorkflow({ params })],
    ['PUT', () => client().replaceCohortMembers({ params, body: { persons: [] } })],
    ['POST that changes nothing', () => client().runQuery({ body: query })],
    ['POST with an Idempotency-Key', () => client().createWorkflow({ body: workflow })],
  ] as const)('after 503 and a broken connection: %s', async (_, call) => {
    server.answer(unavailable, hangUp, done)
    await call()
    expect(server.seen).toHaveLength(3)
    const [first, ...others] = server.seen
    for (const { body, headers, url } of others) {
      expect({ body, url, key: headers['idempotency-key'] }).toEqual({
        body: first?.body,
        url: first?.url,
        key: first?.headers['idempotency-key'],
      })
    }
  })

  it.each([
    ['POST', () => client().createReport({ body: { question: 'revenue' } })],
    ['PATCH', () => client().updateWorkflow({ params, body: {} })],
  ] as const)('after 429 only, where it could be done twice: %s', async (_, call) => {
    server.answer(json(failure(14, 429, { retryAfter: 0 }), 429, { 'retry-after': '0' }), done)
    await call()
    expect(server.seen).toHaveLength(2)
    for (const answer of [unavailable, hangUp]) {
      server.answer(answer, done)
      await expect(call()).rejects.toBeInstanceOf(MillraceError)
      expect(server.seen).toHaveLength(1)
    }
  })

  it('with the Idempotency-Key that the caller gives, else one of its own for each call', async () => {
    server.answer(done)
    await client().createWorkflow({ body: workflow, headers: { 'idempotency-key': 'mine' } })
    await client().createWorkflow({ body: workflow })
    await client().createWorkflow({ body: workflow })
    const keys = server.seen.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toBe('mine')
    expect(keys[1]).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(keys).size).toBe(3)
  })

  it('no more often than it may be', async () => {
    server.answer(hangUp)
    await expect(clientWith({ maxRetries: 1 }).readProfile()).rejects.toMatchObject({
      name: 'ConnectionError',
      attempts: 2,
    })
    expect(server.seen).toHaveLength(2)
    server.answer(hangUp)
    await expect(clientWith().readProfile({}, { maxRetries: 0 })).rejects.toMatchObject({ attempts: 1 })
    expect(server.seen).toHaveLength(1)
  })

  it('after the pause that the service asks for, unless it is too long', async () => {
    const asks = (seconds: string) => json(failure(14, 429), 429, { 'retry-after': seconds })
    server.answer(asks('1'), done)
    const started = performance.now()
    await client().readProfile()
    expect(performance.now() - started).toBeGreaterThan(950)
    server.answer(asks('31'), done)
    await expect(client().readProfile()).rejects.toMatchObject({ name: 'RateLimitError', retryAfter: 31 })
    expect(server.seen).toHaveLength(1)
    const soon = new Date(Date.now() + 60_000).toUTCString()
    server.answer(asks(soon), done)
    await expect(client().readProfile()).rejects.toMatchObject({ name: 'RateLimitError' })
  })

  it('after the page of a proxy that does not reach the service', async () => {
    server.answer(page(502), page(503), page(504), done)
    await client().readProfile()
    expect(server.seen).toHaveLength(4)
  })

  it('never after an answer that another one cannot change', async () => {
    for (const answer of [
      json(failure(16, 500), 500),
      json(failure(18, 504), 504),
      json(failure(5, 404), 404),
      page(500),
      page(404),
      page(200),
    ]) {
      server.answer(answer, done)
      await expect(client().readProfile()).rejects.toBeInstanceOf(MillraceError)
      expect(server.seen).toHaveLength(1)
    }
  })

  it('never where its body was a stream', async () => {
    server.answer(unavailable, done)
    const body = new Blob(['a,b\n1,2\n']).stream()
    await expect(client().uploadContent({ params, body })).rejects.toMatchObject({ name: 'UnavailableError' })
    expect(server.seen).toMatchObject([{ body: 'a,b\n1,2\n' }])
    server.answer(unavailable, done)
    await client().uploadContent({ params, body: 'a,b\n1,2\n' })
    expect(server.seen).toHaveLength(2)
  })
})

describe('a call ends', () => {
  it('when its caller aborts it, with the reason of the caller', async () => {
    server.answer(silence)
    const leaving = new AbortController()
    const call = clientWith().readProfile({}, { signal: leaving.signal })
    await expect.poll(() => server.seen.length).toBe(1)
    const reason = new Error('the user has left')
    leaving.abort(reason)
    await expect(call).rejects.toBe(reason)
    await expect(clientWith().readProfile({}, { signal: leaving.signal })).rejects.toBe(reason)
    expect(server.seen).toHaveLength(1)
  })

  it('when its caller aborts it during the pause before another request', async () => {
    server.answer(json(failure(14, 429), 429, { 'retry-after': '20' }), done)
    const leaving = new AbortController()
    const call = clientWith().readProfile({}, { signal: leaving.signal })
    await expect.poll(() => server.seen.length).toBe(1)
    leaving.abort(new Error('left'))
    await expect(call).rejects.toThrow('left')
    expect(server.seen).toHaveLength(1)
  })

  it('when its time is over, with all its repetitions', async () => {
    server.answer(unavailable, silence)
    await expect(clientWith().readProfile({}, { timeoutMs: 300 })).rejects.toMatchObject({
      name: 'TimeoutError',
      operation: 'readProfile',
      message: 'readProfile has not been answered within 300 ms',
    })
    expect(server.seen).toHaveLength(2)
  })

  it('when its time is over while it waits for tokens', async () => {
    server.answer(silence)
    const getAccessToken = () => new Promise<string>(() => {})
    const client = createClient({ baseUrl: server.baseUrl, getAccessToken })
    await expect(client.readProfile({}, { timeoutMs: 50 })).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(server.seen).toEqual([])
  })
})

describe('an answer that is not of the service', () => {
  it('is named with its status, its type and its beginning', async () => {
    server.answer(page(200))
    await expect(clientWith().readProfile()).rejects.toMatchObject({
      name: 'UnexpectedReplyError',
      status: 200,
      message: `${new URL(server.baseUrl).origin} answered 200 with text/html, which is no answer of the service (<html>Bad Gateway</html>): is baseUrl the address of the service, and does nothing else answer there?`,
    })
    server.answer(page(502))
    await expect(clientWith({ maxRetries: 0 }).readProfile()).rejects.toMatchObject({
      name: 'UnavailableError',
      message: expect.stringContaining('a proxy before the service seems not to reach it'),
    })
  })

  it.each([
    ['other JSON', json({ hello: 'world' })],
    [
      'JSON that ends early',
      (response: import('node:http').ServerResponse) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"succ'),
    ],
    ['nothing', (response: import('node:http').ServerResponse) => void response.writeHead(200).end()],
  ] as const)('is refused where an envelope is due: %s', async (_, answer) => {
    server.answer(answer)
    await expect(clientWith().readProfile()).rejects.toMatchObject({ name: 'UnexpectedReplyError' })
  })

  it('is not followed where it redirects: the token stays with the address it was given for', async () => {
    server.answer(page(301, { location: 'https://elsewhere.example/v2/entities/users/me' }))
    await expect(clientWith().readProfile()).rejects.toMatchObject({
      name: 'UnexpectedReplyError',
      message: expect.stringContaining('https://elsewhere.example/v2/entities/users/me'),
    })
    expect(server.seen).toHaveLength(1)
  })

  it('is refused where tokens are due', async () => {
    server.answer(page(200))
    const client = createClient({
      baseUrl: server.baseUrl,
      clientId: 'web',
      username: 'ada@example.com',
      password: goodPassword,
    })
    await expect(client.readProfile()).rejects.toThrow('has no tokens')
  })

  it('keeps the code of a failure that this version does not know', async () => {
    server.answer(json(failure(8999, 409, { why: 'new' }), 409))
    await expect(clientWith().readProfile()).rejects.toMatchObject({
      name: 'MillraceError',
      status: 409,
      errorCode: 8999,
      errorName: undefined,
      data: { why: 'new' },
    })
  })

  it('is no address at all', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', accessToken: 'a', maxRetries: 0 })
    await expect(client.readProfile()).rejects.toMatchObject({
      name: 'ConnectionError',
      message: expect.stringMatching(/^readProfile failed: no whole answer from http:\/\/127\.0\.0\.1:9 \(/),
    })
  })
})

describe('against the service', () => {
  let database: TestDatabase
  let auth: Auth
  let client: ReturnType<typeof createClient>

  beforeAll(async () => {
    database = await createTestDatabase()
    auth = await createAuth(database)
    const baseUrl = await auth.app.listen({ port: 0, host: '127.0.0.1' })
    await auth.addUser('ada@example.com', goodPassword, 'admin')
    client = createClient({
      baseUrl,
      clientId: auth.clientId,
      username: 'ada@example.com',
      password: goodPassword,
      now: () => auth.time.clock.now(),
    })
  })
  afterAll(async () => {
    await auth.app.close()
    await database.close()
  })

  async function errorOf(call: Promise<unknown>): Promise<MillraceError> {
    const error = await call.catch((thrown: unknown) => thrown)
    if (error instanceof MillraceError) return error
    throw new Error(`no failure of the service: ${String(error)}`)
  }

  it('a failure has the name, code and data of its row, by which its type narrows', async () => {
    const error = await errorOf(client.readExperiment({ params }))
    expect(error).toMatchObject({ status: 404, errorCode: 9000, operation: 'readExperiment', attempts: 1 })
    expect(error.is('notFound')).toBe(false)
    if (!error.is('experimentNotFound')) throw error
    expectTypeOf(error.data).toEqualTypeOf<{ id: string }>()
    expect(error.data).toEqual(params)
  })

  it('a request that is not valid says where', async () => {
    const error = await errorOf(client.listWorkflows({ query: { perPage: 1_000 } }))
    expect(error).toMatchObject({
      name: 'ValidationError',
      errorName: 'validation',
      errors: [{ path: 'perPage', message: expect.stringContaining('100') }],
    })
  })

  it('lists come page by page, as far as the loop goes', async () => {
    const names = Array.from({ length: 7 }, (_, i) => `Team ${i}`)
    for (const name of names) await client.createTeam({ body: { name } })
    const all: string[] = []
    for await (const team of client.listTeams.all({ query: { search: 'Team', perPage: 2 } })) {
      expectTypeOf(team.name).toEqualTypeOf<string>()
      all.push(team.name)
    }
    expect(all.toSorted()).toEqual(names)
    const { body } = await client.listTeams.reply({ query: { search: 'Team', perPage: 2 } })
    expect(body).toMatchObject({ paginationCount: 7, paginationPage: 1, paginationLimit: 2 })
    expectTypeOf(body.paginationCount).toEqualTypeOf<number>()
  })

  it('headers of an answer are there, and those of a request are sent', async () => {
    const { id: userId } = await client.readProfile()
    const team = await client.createTeam({ body: { name: 'Writers', memberIds: [userId] } })
    const workflow = await client.createWorkflow({ body: { name: 'Welcome', resourceGroupIds: [team.id] } })
    const versionId = workflow.versions[0]?.id ?? ''
    const place = { id: workflow.id, versionId }
    const { headers, body } = await client.readWorkflowVersion.reply({ params: place })
    const definition = body.data.definition
    const etag = headers.get('etag') ?? ''
    const save = () =>
      client.saveWorkflowVersion({ params: place, headers: { 'if-match': etag }, body: { definition } })
    expect((await save()).id).toBe(versionId)
    expect((await errorOf(save())).status).toBe(412)
  })

  it('answers without an envelope are given as they are', async () => {
    const reply = await client.checkEmail.reply({
      body: {
        client_id: auth.clientId,
        redirect_uri: 'https://app.example/signed-in?from=millrace',
        username: 'ada@example.com',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      },
    })
    expect(reply).toMatchObject({ status: 204, body: undefined })
    expect(reply.headers.get('location')).toContain('/')
    const stream = await client.listAuditEntries.csv({ query: { action: 'team-create' } })
    expect(await new Response(stream).text()).toMatch(/^id,at,category,.*\r\n.*,team-create,success/)
  })
})
