import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { goodPassword } from '../support/auth.ts'
import { hour } from '../support/fake-time.ts'
import { createLinkedAccountsApp, type LinkedAccountsApp } from '../support/linked-accounts.ts'

let app: LinkedAccountsApp

beforeAll(async () => {
  app = await createLinkedAccountsApp()
})

afterEach(async () => {
  app.webhooks.received.length = 0
  app.webhooks.answer = (reply) => void reply.end('ok')
  await app.database.pool.query('delete from linked_accounts')
  // The limit of attempts within an hour is the subject of one test alone.
  app.auth.time.advance(hour)
  for (const name of ['ada', 'bob', 'admin', 'stranger'] as const) await renew(name)
})

afterAll(() => app.close())

const emails = {
  ada: 'ada@example.com',
  bob: 'bob@example.com',
  admin: 'admin@example.com',
  stranger: 'eve@other.example',
} as const

/** An access token ends after an hour. */
async function renew(name: keyof typeof emails): Promise<void> {
  const { access_token } = (await app.auth.signIn(emails[name], goodPassword)).json()
  Object.assign(app.tokens, { [name]: access_token })
}

const create = (body: Record<string, unknown>, token = app.tokens.ada) =>
  app.auth.call(token, 'POST', '/v2/linked-accounts', body)

const list = (token: string, query = '') => app.auth.call(token, 'GET', `/v2/linked-accounts${query}`)

const at = (path: string, host = 'hooks.example.test') => `https://${host}:${app.webhooks.port}${path}`

const rows = async () =>
  (await app.database.pool.query('select id, user_id, sealed_target from linked_accounts')).rows

describe('linking', () => {
  test('a channel in Slack is linked once it has taken a test message', async () => {
    const url = at('/services/T0AB/B0CD/abcDEF123', 'hooks.slack.com')
    const reply = await create({ provider: 'slack', name: 'Sales <!channel> & co', url })
    expect(reply.statusCode).toBe(200)
    const { data } = reply.json()
    expect(data).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      userId: app.userIds.ada,
      provider: 'slack',
      name: 'Sales <!channel> & co',
      host: `hooks.slack.com:${app.webhooks.port}`,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const [message] = app.webhooks.received
    expect(message?.url).toBe('/services/T0AB/B0CD/abcDEF123')
    expect(JSON.parse(message?.body ?? '')).toEqual({
      text: 'This is a test of Millrace: ada@example.com links this place as "Sales &lt;!channel&gt; &amp; co".',
    })
  })

  test('a workflow of Teams gets a card whose text is no markup', async () => {
    const url = at(
      '/workflows/1/triggers/manual/paths/invoke?api-version=1&sig=s',
      'prod-1.westeurope.logic.azure.com',
    )
    expect(
      (await create({ provider: 'teams', name: '**Sales** [x](https://evil.example)', url })).statusCode,
    ).toBe(200)
    const { type, attachments } = JSON.parse(app.webhooks.received[0]?.body ?? '')
    expect([type, attachments[0].contentType]).toEqual(['message', 'application/vnd.microsoft.card.adaptive'])
    expect(attachments[0].content).toMatchObject({
      type: 'AdaptiveCard',
      body: [
        {
          type: 'RichTextBlock',
          inlines: [
            { type: 'TextRun', text: expect.stringContaining('"**Sales** [x](https://evil.example)"') },
          ],
        },
      ],
    })
  })

  test('a webhook with a secret gets a signature of the time and the body as it was sent', async () => {
    const secret = 'k'.repeat(32)
    expect((await create({ provider: 'webhook', name: 'Signed', url: at('/in'), secret })).statusCode).toBe(
      200,
    )
    const [message] = app.webhooks.received
    const [, time, signature] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(message?.headers['millrace-signature'])) ?? []
    expect(Number(time)).toBe(Math.floor(app.auth.time.clock.now() / 1000))
    expect(signature).toBe(createHmac('sha256', secret).update(`${time}.${message?.body}`).digest('hex'))
    expect(JSON.parse(message?.body ?? '')).toMatchObject({ type: 'test', program: 'millrace' })
  })

  test('a webhook without a secret is not signed', async () => {
    await create({ provider: 'webhook', name: 'Plain', url: at('/in') })
    expect(app.webhooks.received[0]?.headers['millrace-signature']).toBeUndefined()
  })

  test('what was read can be sent back, with an address', async () => {
    const { data } = (await create({ provider: 'webhook', name: 'A', url: at('/in') })).json()
    expect((await create({ ...data, url: at('/in') })).json().data.id).not.toBe(data.id)
  })

  test('the address is sealed for this account alone, and nothing of it is in the database', async () => {
    const url = at('/inbox/top-secret-path')
    await create({ provider: 'webhook', name: 'A', url, secret: 'signing-secret-0123' })
    await create({ provider: 'webhook', name: 'B', url })
    const [first, second] = await rows()
    const { box } = app.auth.parts
    expect(JSON.parse(box.open(first.sealed_target, `linked-account:${first.id}`).toString())).toEqual({
      url,
      secret: 'signing-secret-0123',
    })
    expect(() => box.open(first.sealed_target, `linked-account:${second.id}`)).toThrow()
    const { rows: texts } = await app.database.pool.query(
      `select linked_accounts::text || coalesce((select string_agg(audit_entries::text, '') from audit_entries), '') as text
       from linked_accounts`,
    )
    for (const { text } of texts)
      expect(text).not.toMatch(/top-secret|signing-secret|\\x.*746f702d736563726574/)
  })
})

describe('what cannot be linked', () => {
  test.each([
    ['slack', 'https://hooks.slack.com.evil.example/services/T/B/x', /incoming webhook of Slack/],
    ['slack', 'https://evil.example/services/T/B/x', /incoming webhook of Slack/],
    ['slack', 'https://hooks.slack.com/workflows/T/A/x', /incoming webhook of Slack/],
    ['slack', 'https://hooks.slack.com/services/T/B/x/../../../api', /incoming webhook of Slack/],
    ['slack', 'not an address', /incoming webhook of Slack/],
    ['teams', 'https://acme.webhook.office.com/webhookb2/x', /workflow for webhooks of Teams/],
    ['teams', 'https://logic.azure.com.evil.example/x', /workflow for webhooks of Teams/],
    ['teams', 'https://evillogic.azure.com/x', /workflow for webhooks of Teams/],
    ['webhook', 'http://hooks.example.test/', /must begin with https|port must be/],
    ['webhook', 'ftp://hooks.example.test/', /must begin with https/],
    ['webhook', 'https://user:pass@hooks.example.test/', /must be plain/],
    ['webhook', 'https://hooks.example.test:6379/', /the port must be one of/],
    ['webhook', 'nonsense', /url must be any public address/],
  ])('J08: %s at %s is refused and nothing is asked', async (provider, url, message) => {
    const reply = await create({ provider, name: 'X', url })
    expect(reply.json()).toMatchObject({
      code: 400,
      error_code: 2031,
      message: expect.stringMatching(message),
    })
    expect(app.webhooks.received).toHaveLength(0)
    expect(await rows()).toHaveLength(0)
  })

  test('J08: a private address is refused, and of a name it is not told that it leads to one', async () => {
    const bodies = []
    for (const kind of ['private', 'unknown', 'closed']) {
      const reply = await create({ provider: 'webhook', name: 'X', url: at('/x', `${kind}.example.test`) })
      const { headers, statusCode, body } = reply
      expect(reply.json()).toMatchObject({ code: 400, error_code: 2032 })
      const same = body.replaceAll(kind, 'name').replace(/"datetime":"[^"]+"/, '')
      const length = Number(headers['content-length']) - 2 * kind.length
      bodies.push({ statusCode, same, headers: { ...headers, date: '', 'content-length': length } })
    }
    for (const body of bodies) expect(body).toEqual(bodies[0])
    for (const url of [at('/x', '10.0.0.1'), at('/x', '[::1]')]) {
      const { code, error_code, message } = (await create({ provider: 'webhook', name: 'X', url })).json()
      expect([code, error_code]).toEqual([400, 2031])
      expect(message).toMatch(/an address that is not public$/)
    }
    expect(app.webhooks.received).toHaveLength(0)
  })

  test.each([403, 404, 410, 500, 302])(
    'J08: an address that answers %i is not linked, and the answer is not repeated',
    async (status) => {
      app.webhooks.answer = (reply) =>
        void reply.writeHead(status, { location: '/x' }).end('no_service inside')
      const reply = await create({ provider: 'webhook', name: 'X', url: at('/in/secret') })
      expect(reply.json()).toMatchObject({
        code: 400,
        error_code: 2032,
        message: `The test message was not taken, so nothing was linked: hooks.example.test answered with status ${status}`,
        data: { reason: `hooks.example.test answered with status ${status}`, status },
      })
      expect(reply.body).not.toMatch(/no_service|secret/)
      expect(await rows()).toHaveLength(0)
    },
  )

  test('J08: an address that is slow is not linked', async () => {
    app.webhooks.answer = () => {}
    const { error_code, message } = (await create({ provider: 'webhook', name: 'X', url: at('/in') })).json()
    expect(error_code).toBe(2032)
    expect(message).toMatch(/no whole answer within 1 s$/)
    expect(await rows()).toHaveLength(0)
  })

  test.each([
    [{}, 'provider'],
    [{ provider: 'discord', name: 'X', url: 'https://x.example/' }, 'provider'],
    [{ provider: 'webhook', name: '', url: 'https://x.example/' }, 'name'],
    [{ provider: 'webhook', name: 'a\r\nb', url: 'https://x.example/' }, 'name'],
    [{ provider: 'webhook', name: 'x'.repeat(101), url: 'https://x.example/' }, 'name'],
    [{ provider: 'webhook', name: 'X', url: 5 }, 'url'],
    [{ provider: 'webhook', name: 'X', url: ['https://x.example/'] }, 'url'],
    [{ provider: 'webhook', name: 'X', url: 'https://x.example/', secret: 'too short' }, 'secret'],
    [{ provider: 'webhook', name: 'X', url: 'https://x.example/', sceret: 'x' }, 'sceret'],
  ])('%j is 400 at %s', async (body, path) => {
    const { code, error_code, data } = (await create(body)).json()
    expect([code, error_code, data.errors[0].path]).toEqual([400, 1, path])
  })

  test('a secret that is not valid is not repeated', async () => {
    const reply = await create({ provider: 'webhook', name: 'X', url: 'https://x.example/', secret: 'a b c' })
    expect(reply.statusCode).toBe(400)
    expect(reply.body).not.toContain('a b c')
  })

  test('a secret for Slack or Teams is refused: their messages are not signed', async () => {
    const url = at('/services/T/B/x', 'hooks.slack.com')
    const { error_code, message } = (
      await create({ provider: 'slack', name: 'X', url, secret: 'k'.repeat(16) })
    ).json()
    expect([error_code, message]).toEqual([2031, expect.stringMatching(/for the provider webhook only/)])
  })

  test('nobody has more than 20, however many are asked for at once', async () => {
    const { ada } = app.userIds
    await app.database.pool.query(
      `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
       select lpad(to_hex(n), 24, '0'), $1, $2, 'webhook', 'n', 'h', '' from generate_series(1, 18) n`,
      [app.auth.companyId, ada],
    )
    const made = await Promise.all(
      Array.from({ length: 6 }, () => create({ provider: 'webhook', name: 'X', url: at('/in') })),
    )
    expect(made.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 409, 409, 409, 409])
    expect(await rows()).toHaveLength(20)
    const full = await create({ provider: 'webhook', name: 'X', url: at('/in') })
    expect(full.json()).toMatchObject({ code: 409, error_code: 2033, data: { limit: 20 } })
    expect(
      (await create({ provider: 'webhook', name: 'X', url: at('/in') }, app.tokens.bob)).statusCode,
    ).toBe(200)
  })

  test('more than 30 attempts within an hour are 429, for this person alone', async () => {
    app.webhooks.answer = (reply) => void reply.writeHead(404).end()
    for (let attempt = 0; attempt < 30; attempt++)
      expect((await create({ provider: 'webhook', name: 'X', url: at('/in') })).statusCode).toBe(400)
    const reply = await create({ provider: 'webhook', name: 'X', url: at('/in') })
    expect(reply.statusCode).toBe(429)
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(3_500)
    expect(app.webhooks.received).toHaveLength(30)
    expect(
      (await create({ provider: 'webhook', name: 'X', url: at('/in') }, app.tokens.bob)).statusCode,
    ).toBe(400)
  })

  test('a user who is deactivated while the test is on its way links nothing', async () => {
    await app.auth.addUser('gone@example.com')
    const token = (await app.auth.signIn('gone@example.com')).json().access_token
    app.webhooks.answer = (reply) =>
      void app.auth.accounts.disableUser('gone@example.com').then(() => reply.end('ok'))
    expect((await create({ provider: 'webhook', name: 'X', url: at('/in') }, token)).statusCode).toBe(401)
    expect(await rows()).toHaveLength(0)
  })
})

describe('listing', () => {
  test('one’s own, the oldest first, without their addresses', async () => {
    const first = await app.link(app.tokens.ada, 'First')
    const second = await app.link(app.tokens.ada, 'Second')
    await app.link(app.tokens.bob, 'Of another')
    const reply = await list(app.tokens.ada)
    expect(reply.json().data.map(({ id }: { id: string }) => id)).toEqual([first, second])
    expect(reply.body).not.toMatch(/top-secret|sealed|url/)
    expect((await list(app.tokens.ada, `?userId=${app.userIds.ada.toUpperCase()}`)).json().data).toHaveLength(
      2,
    )
  })

  test('those of a colleague need User: read; people of other companies are unknown', async () => {
    const id = await app.link(app.tokens.ada)
    const query = `?userId=${app.userIds.ada}`
    expect((await list(app.tokens.bob, query)).json()).toMatchObject({
      code: 403,
      error_code: 4,
      data: { resource: 'user', action: 'read' },
    })
    expect((await list(app.tokens.admin, query)).json().data).toMatchObject([{ id }])
    const foreign = (await list(app.tokens.stranger, query)).json()
    const unknown = (await list(app.tokens.stranger, `?userId=${'f'.repeat(24)}`)).json()
    expect(foreign).toMatchObject({ code: 404, error_code: 5 })
    expect(foreign.message).toBe(unknown.message)
  })

  test.each(['?userId=x', '?userId=', '?user=1', `?userId=${'a'.repeat(24)}&userId=${'b'.repeat(24)}`])(
    '%s is 400',
    async (query) => {
      expect((await list(app.tokens.admin, query)).statusCode).toBe(400)
    },
  )

  test('no token is 401', async () => {
    for (const method of ['GET', 'POST'] as const)
      expect((await app.auth.app.inject({ method, url: '/v2/linked-accounts' })).statusCode).toBe(401)
  })
})

test('deactivating a user takes their linked accounts along', async () => {
  await app.auth.addUser('leaver@example.com')
  const token = (await app.auth.signIn('leaver@example.com')).json().access_token
  await app.link(token)
  await app.auth.accounts.disableUser('leaver@example.com')
  expect(await rows()).toHaveLength(0)
})
