import { randomBytes, randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMailQueue } from '../../src/features/mail/mail-store.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational, type Relational } from '../../src/platform/stores/relational.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { everyRow, expectNowhere } from '../support/secret-search.ts'
import { startSmtp, type TestSmtp } from '../support/smtp.ts'

/**
 * One run through everything that holds secrets, with every line logged; afterwards none of them may stand in the
 * log, the metrics, the audit log, an error answer or a row of the database.
 */

const secret = (name: string): string => `${name}-${randomBytes(12).toString('hex')}`

const key = randomBytes(32)
const secrets = {
  path: secret('path'),
  signing: secret('signing'),
  link: secret('link'),
  smtpPassword: secret('smtp'),
  metricsToken: secret('metrics'),
  wrongPassword: secret('wrong'),
  inside: secret('inside'),
  key: key.toString('base64'),
}

let hooks: Server
let host: string
let smtp: TestSmtp
let service: Service
let relational: Relational
const answers: string[] = []
const tokens: string[] = []

beforeAll(async () => {
  // An address of this machine that no other test uses; the port is one that requests may go to.
  const address = `127.${randomInt(1, 250)}.${randomInt(250)}.${randomInt(2, 250)}`
  host = `${address}:8443`
  hooks = createServer((request, reply) => {
    reply.statusCode = request.url?.startsWith('/taken') ? 200 : 500
    reply.end(secrets.inside)
  })
  await new Promise<void>((resolve) => hooks.listen(8443, address, resolve))
  smtp = await startSmtp({
    allowInsecureAuth: true,
    onAuth: (_auth, _session, callback) => callback(null, { user: 'u' }),
    onMail(mail) {
      // A server that repeats what it was given.
      if (mail.to[0] === 'refused@example.com') throw new Error(mail.message.replaceAll(/\s+/g, ' '))
    },
  })
  service = await startService({
    env: {
      MILLRACE_LOG_LEVEL: 'trace',
      MILLRACE_OUTGOING_ALLOW: address,
      MILLRACE_ENCRYPTION_KEY: secrets.key,
      MILLRACE_METRICS_TOKEN: secrets.metricsToken,
      SMTP_URL: `smtp://sender:${secrets.smtpPassword}@127.0.0.1:${smtp.port}`,
    },
  })
  const { application } = embeddedAddresses(join(service.dataDirectory, 'run'))
  relational = openRelational({ address: application, logger: silentLogger, connections: 2 })
})

afterAll(async () => {
  await relational?.close()
  expect(await service?.stop()).toBe(0)
  await smtp?.close()
  hooks?.close()
  if (service) removeData(service)
})

async function grant(body: Record<string, string>): Promise<{ access_token: string; refresh_token: string }> {
  const reply = await fetch(`${service.baseUrl}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: service.clientId, ...body }),
  })
  const pair = (await reply.json()) as { access_token: string; refresh_token: string }
  if (reply.ok) tokens.push(pair.access_token, pair.refresh_token)
  else answers.push(JSON.stringify(pair))
  return pair
}

async function call(method: string, path: string, body?: unknown): Promise<Record<string, never>> {
  const reply = await service.call(method, path, body)
  const text = await reply.text()
  answers.push(text)
  return JSON.parse(text)
}

test('U06, T17: no secret stands in the log, the metrics, the audit log, an answer or a row', async () => {
  const { email: username, password } = service.admin
  const { refresh_token } = await grant({ grant_type: 'password', username, password })
  await grant({ grant_type: 'refresh_token', refresh_token })
  await grant({ grant_type: 'password', username, password: secrets.wrongPassword })
  await grant({ grant_type: 'refresh_token', refresh_token: 'x'.repeat(43) })
  await fetch(`${service.baseUrl}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: service.clientId, token: refresh_token }),
  })

  const account = (path: string, more: Record<string, unknown> = {}) => ({
    provider: 'webhook',
    name: 'Hook',
    url: `http://${host}/${path}/${secrets.path}?sig=${secrets.path}`,
    secret: secrets.signing,
    ...more,
  })
  const made = await call('POST', '/v2/linked-accounts', account('taken'))
  expect(made).toMatchObject({ code: 200 })
  expect(await call('POST', '/v2/linked-accounts', account('failing'))).toMatchObject({ code: 400 })
  for (const wrong of [
    account('taken', { provider: 'slack' }),
    account('taken', { secret: `${secrets.signing} with a space` }),
    account('taken', { url: `https://10.0.0.1/${secrets.path}` }),
    account('taken', { url: `https://user:${secrets.path}@hooks.example/` }),
    account('taken', { url: `https://nobody.invalid/${secrets.path}` }),
    account('taken', { url: [secrets.path] }),
    account('taken', { name: 5 }),
  ])
    expect(await call('POST', '/v2/linked-accounts', wrong)).toMatchObject({ code: 400 })
  await call('GET', '/v2/linked-accounts')
  const { data } = made as unknown as { data: { id: string } }

  const enqueue = createMailQueue(createSecretBox([key]))
  for (const to of ['taken@example.com', 'refused@example.com'])
    await enqueue(relational.db, undefined, {
      to,
      subject: 'Reset',
      text: `https://stats.example/reset#${secrets.link}`,
    })
  await expect
    .poll(
      async () =>
        (
          await relational.pool.query(
            'select 1 from outgoing_mails where attempts > 0 and (sent_at is not null or last_error is not null)',
          )
        ).rowCount,
    )
    .toBe(2)
  expect(smtp.mails).toHaveLength(2)

  const withSecretsStored = await everyRow(relational)
  expect(await call('DELETE', `/v2/linked-accounts/${data.id}`)).toMatchObject({ code: 200 })
  await call('GET', '/v2/entities/audit-log?perPage=100')
  const csv = await (await service.call('GET', '/v2/entities/audit-log?format=csv')).text()
  const metrics = await fetch(`${new URL(service.baseUrl).origin}/metrics`, {
    headers: { authorization: `Bearer ${secrets.metricsToken}` },
  })
  const page = await metrics.text()
  expect(page).toMatch(/^millrace_mails_waiting 1$/m)
  expect(page).toMatch(/^millrace_mails_failed 0$/m)

  const log = service.output()
  expect(log).toContain('/v2/linked-accounts')
  expect(log).toContain('a mail was not taken')
  const places = {
    log,
    page,
    csv,
    answers: answers.join('\n'),
    rows: withSecretsStored,
    rowsAfterwards: await everyRow(relational),
  }
  expect(csv).toContain('linked-account-create')
  expect(tokens.length).toBe(3 + 1)
  expectNowhere(
    { ...secrets, password, ...Object.fromEntries(tokens.map((token, i) => [`token ${i}`, token])) },
    places,
  )
})

test('U05: another key, while secrets are sealed, is refused at the start', async () => {
  await service.stop()
  const other = randomBytes(32).toString('base64')
  const refused = startService({
    dataDirectory: service.dataDirectory,
    env: { MILLRACE_ENCRYPTION_KEY: other },
  })
  await expect(refused).rejects.toThrow(/ended with 78/)
  const again = startService({ dataDirectory: service.dataDirectory })
  await expect(again).rejects.toThrow(/ended with 78/)
  service = await startService({
    dataDirectory: service.dataDirectory,
    env: { MILLRACE_ENCRYPTION_KEY: `${other},${secrets.key}` },
  })
})
