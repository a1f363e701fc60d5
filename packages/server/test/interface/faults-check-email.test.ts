import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/platform/logger.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational, type Relational } from '../../src/platform/stores/relational.ts'
import { createAuth } from '../support/auth.ts'
import { authorizationFor, challengeOf, verifier } from '../support/authorization.ts'
import { requireByRows } from '../support/mandatory-domain.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { statementsOf } from '../support/statements.ts'

/** Rows of docs/faults.md that take the real store of single sign-on, in a whole service where it matters. */

const redirectUri = 'https://app.example/signed-in'

describe('a whole service', () => {
  let service: Service
  let relational: Relational
  let clientId: string

  beforeAll(async () => {
    // Each request says itself where it comes from, so that none is one too many from one address.
    service = await startService({ env: { MILLRACE_TRUSTED_PROXIES: '127.0.0.1' } })
    const { application } = embeddedAddresses(join(service.dataDirectory, 'run'))
    relational = openRelational({ address: application, logger: silentLogger, connections: 2 })
    const made = await service.operate(
      'client',
      'create',
      '--name',
      'Desk',
      '--redirect-uri',
      redirectUri,
      '--json',
    )
    clientId = (JSON.parse(made) as { id: string }).id
    const password = 'a harbour with 9 lanterns'
    for (const email of ['ada@corp.example', 'ada@free.example'])
      await service.operate('user', 'create', '--email', email, '--role', 'viewer', '--password', password)
  })

  afterAll(async () => {
    await relational?.close()
    expect(await service?.stop()).toBe(0)
    if (service) removeData(service)
  })

  let asked = 0
  async function ask(username: string, accept: 'text/html' | 'application/json') {
    asked++
    const reply = await fetch(`${service.baseUrl}/oauth/check-email`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        accept,
        'x-forwarded-for': `198.51.${(asked >> 8) & 255}.${asked & 255}`,
      },
      body: new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        state: 's',
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
        username,
      }),
    })
    return { status: reply.status, headers: reply.headers, body: await reply.text() }
  }
  type Answer = Awaited<ReturnType<typeof ask>>

  /** What the answer sends a user to. */
  function stepOf({ status, headers, body }: Answer): string {
    const { pathname } = new URL(headers.get('location') ?? 'none:', service.baseUrl)
    if (status === 200 && body.includes('name="password"')) return 'password'
    if (status === 204 && pathname === '/v2/oauth/authorize') return 'password'
    if ((status === 204 || status === 303) && pathname === '/v2/sso/saml/login') return 'single sign-on'
    return `${status} ${body}`
  }

  /** An answer without what is of this one request: the address asked about, the token of the form. */
  function comparable({ status, headers, body }: Answer, username: string) {
    const without = (text: string): string =>
      text
        .replaceAll(username, 'X')
        .replaceAll(encodeURIComponent(username), 'X')
        .replaceAll(/(name="form_token" value=)"[^"]*"/g, '$1""')
    const rest = [...headers]
      .filter(([name]) => !['date', 'set-cookie', 'x-request-id'].includes(name))
      .map(([name, value]) => [name, without(value)])
    const cookies = headers.getSetCookie().map((line) => line.replace(/=[^;]*/, '='))
    return { status, rest, cookies, length: without(body).length, body: without(body) }
  }

  test('E01: only the domain matters, whether passwords or single sign-on let its people in', async () => {
    await requireByRows(relational, service.companyId, 'corp.example')
    for (const accept of ['text/html', 'application/json'] as const) {
      for (const [domain, step] of [
        ['corp.example', 'single sign-on'],
        ['free.example', 'password'],
      ]) {
        const [known, unknown] = [`ada@${domain}`, `eve@${domain}`]
        const [first, second] = [await ask(known, accept), await ask(unknown, accept)]
        expect(stepOf(first)).toBe(step)
        expect(comparable(second, unknown)).toEqual(comparable(first, known))
      }
    }
    expect((await service.call('DELETE', '/v2/entities/sso/config')).status).toBe(200)
  })

  test('E10: while the configuration is deleted everybody gets single sign-on or the password, and never the password before', async () => {
    for (let round = 0; round < 10; round++) {
      await requireByRows(relational, service.companyId, 'corp.example')
      const answers: { answer: Answer; from: number; to: number }[] = []
      let isOver = false
      const senders = Array.from({ length: 6 }, async (_, number) => {
        while (!isOver) {
          const from = performance.now()
          const answer = await ask('ada@corp.example', number % 2 === 0 ? 'text/html' : 'application/json')
          answers.push({ answer, from, to: performance.now() })
        }
      })
      await expect.poll(() => answers.length).toBeGreaterThan(10)
      const began = performance.now()
      expect((await service.call('DELETE', '/v2/entities/sso/config')).status).toBe(200)
      const ended = performance.now()
      const before = answers.length
      await expect.poll(() => answers.length).toBeGreaterThan(before + 10)
      isOver = true
      await Promise.all(senders)
      for (const { answer, from, to } of answers) {
        const step = stepOf(answer)
        if (to < began) expect(step).toBe('single sign-on')
        else if (from > ended) expect(step).toBe('password')
        else expect(['single sign-on', 'password']).toContain(step)
      }
    }
  })
})

test('E01: a known and an unknown address cost the same statements, none of which is about people', async () => {
  const relational = await createTestDatabase()
  const auth = await createAuth(relational)
  await requireByRows(relational, auth.companyId, 'corp.example')
  for (const domain of ['corp.example', 'free.example']) {
    await auth.addUser(`ada@${domain}`)
    const shapes: string[][] = []
    for (const name of ['ada', 'eve']) {
      const form = new URLSearchParams(authorizationFor(auth, { username: `${name}@${domain}` }))
      const statements = await statementsOf(async () => {
        const reply = await auth.app.inject({
          method: 'POST',
          url: '/v2/oauth/check-email',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          payload: form.toString(),
        })
        expect(reply.statusCode).toBe(204)
      })
      shapes.push(statements)
    }
    expect(shapes[0]?.join('\n')).toContain('sso_domains')
    expect(shapes[0]?.join('\n')).not.toContain('"users"')
    expect(shapes[1]).toEqual(shapes[0])
  }
  await auth.app.close()
  await relational.close()
})
