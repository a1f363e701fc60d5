import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCertificateWatch } from '../../src/features/identity/single-sign-on/certificates/certificate-watch.ts'
import { day } from '../support/fake-time.ts'
import { type IdentityProvider, makeKey, startIdentityProvider } from '../support/identity-provider.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import {
  configureSingleSignOn,
  createSingleSignOnApp,
  type SingleSignOnApp,
} from '../support/single-sign-on.ts'
import { statementsOf } from '../support/statements.ts'

let relational: TestDatabase
let app: SingleSignOnApp
let idp: IdentityProvider

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createSingleSignOnApp(relational)
  idp = await startIdentityProvider()
  await configureSingleSignOn(app, idp)
  await app.auth.takeMails()
})

afterAll(async () => {
  await app.auth.app.close()
  await idp.close()
  await relational.close()
})

function createWatch() {
  const { box, enqueueMail, time } = app.auth.parts
  return createCertificateWatch({ relational, box, enqueueMail, clock: time.clock })
}

/** What mails a look at the certificates sends, and to whom. */
async function look(times = 1): Promise<string[]> {
  const watches = Array.from({ length: times }, createWatch)
  await Promise.all(watches.map((watch) => watch.work()))
  return (await app.auth.takeMails()).map(({ to, subject }) => `${to}: ${subject}`).toSorted()
}

test('administrators get one mail each 30, 14, 7 days and 1 day before a certificate ends, from one process', async () => {
  const { auth } = app
  await auth.addUser('second@acme.example', undefined, 'admin')
  await auth.addUser('viewer@acme.example')
  const { certificate } = await makeKey(60)
  await relational.pool.query('update sso_configs set idp_certificates = array[$1]', [certificate])
  expect(await look()).toEqual([])
  const both = (days: string) => [
    `root@acme.example: Single sign-on ends in ${days}`,
    `second@acme.example: Single sign-on ends in ${days}`,
  ]
  // The certificate began some seconds after this test did.
  auth.time.advance(30 * day + 60_000)
  expect(await look(3)).toEqual(both('30 days'))
  expect(await look()).toEqual([])
  auth.time.advance(10 * day)
  expect(await look()).toEqual([])
  // A service that stood still says it once, not once for each notice that it missed.
  auth.time.advance(15 * day)
  expect(await look()).toEqual(both('5 days'))
  auth.time.advance(4 * day)
  expect(await look()).toEqual(both('1 day'))
  auth.time.advance(2 * day)
  expect(await look()).toEqual([])
})

test('the gauge tells the days until the first end; a successor counts, and our own certificate is watched too', async () => {
  const { auth } = app
  const soon = await makeKey(200)
  const later = await makeKey(900)
  await relational.pool.query('update sso_configs set idp_certificates = array[$1, $2]', [
    soon.certificate,
    later.certificate,
  ])
  const watch = createWatch()
  const passed = (auth.time.clock.now() - Date.now()) / day
  expect(await watch.minDaysLeft()).toBeCloseTo(900 - passed, 0)
  // Metrics are read every few seconds.
  expect(await statementsOf(watch.minDaysLeft)).toEqual([])
  await relational.pool.query(`update sso_certificates set not_after = $1`, [
    new Date(auth.time.clock.now() + 6.9 * day),
  ])
  await watch.work()
  expect(await watch.minDaysLeft()).toBeCloseTo(6.9, 1)
  const [mail] = await auth.takeMails()
  expect(mail?.text).toMatch(/signs its requests to your identity provider .* retire the old one/)
})
