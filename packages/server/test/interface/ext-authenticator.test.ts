import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { fromBase32, oneTimeCode, turnOnAuthenticator } from '../support/authenticator.ts'
import { returned, walkToPassword } from '../support/authorization.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const url = '/v2/entities/users/me/authenticator'

let relational: TestDatabase
let auth: Auth
let count = 0
let email: string
let token: string

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  await auth.addUser('root@example.com', goodPassword, 'admin')
})

afterAll(() => relational.close())

beforeEach(async () => {
  email = `person${++count}@example.com`
  await auth.addUser(email)
  token = (await auth.signIn(email)).json().access_token
  auth.time.advance(60_000)
})

const codeNow = (secret: Buffer, steps = 0): string => oneTimeCode(auth, secret, steps)
const turnOn = () => turnOnAuthenticator(auth, token)

const signIn = (code?: string, password = goodPassword) =>
  auth.post({
    grant_type: 'password',
    client_id: auth.clientId,
    username: email,
    password,
    ...(code === undefined ? {} : { 'x-otp-code': code }),
  })

describe('turning on', () => {
  test('takes the password, gives a secret, and counts from the first code on', async () => {
    expect((await auth.call(token, 'GET', url)).json().data).toEqual({ enabled: false, recoveryCodes: 0 })
    const offered = (await auth.call(token, 'POST', url, { password: goodPassword })).json().data
    expect(offered.address).toContain(`secret=${offered.secret}&`)
    expect((await signIn()).statusCode).toBe(200)
    const { recoveryCodes } = await turnOn()
    expect(recoveryCodes).toHaveLength(10)
    expect(new Set(recoveryCodes).size).toBe(10)
    expect((await auth.call(token, 'GET', url)).json().data).toEqual({ enabled: true, recoveryCodes: 10 })
    expect(await auth.auditTrail()).toContain('authenticator-enable success')
  })

  test('with a wrong password is 403, and counts as a failed sign-in', async () => {
    const reply = await auth.call(token, 'POST', url, { password: 'not the password' })
    expect(reply.statusCode).toBe(403)
    expect(reply.json()).toMatchObject({ error_code: 2077 })
    for (let i = 0; i < 9; i++) await auth.call(token, 'POST', url, { password: 'not the password' })
    expect((await auth.call(token, 'POST', url, { password: goodPassword })).statusCode).toBe(429)
  })

  test('with a wrong code is 400; without a secret, or twice, 409', async () => {
    expect((await auth.call(token, 'POST', `${url}/confirm`, { code: '123456' })).json()).toMatchObject({
      error_code: 2012,
    })
    const offered = (await auth.call(token, 'POST', url, { password: goodPassword })).json().data
    const secret = fromBase32(offered.secret)
    expect(
      (await auth.call(token, 'POST', `${url}/confirm`, { code: codeNow(secret, 5) })).json(),
    ).toMatchObject({
      error_code: 2013,
    })
    await turnOn()
    expect((await auth.call(token, 'POST', url, { password: goodPassword })).json()).toMatchObject({
      error_code: 2011,
    })
  })

  test('keeps the secret sealed and recovery codes as hashes', async () => {
    const { secret, recoveryCodes } = await turnOn()
    const { rows } = await relational.pool.query(
      "select encode(sealed_secret, 'hex') as text from user_authenticators union select encode(code_hash, 'hex') from recovery_codes",
    )
    const kept = JSON.stringify(rows)
    expect(kept).not.toContain(secret.toString('hex'))
    for (const code of recoveryCodes) expect(kept).not.toContain(Buffer.from(code).toString('hex'))
  })
})

describe('T21: the password grant', () => {
  test('asks for a code only after the right password', async () => {
    await turnOn()
    const asked = await signIn()
    expect(asked.statusCode).toBe(401)
    expect(asked.json()).toMatchObject({ error: 'otp_required', error_code: 2008 })
    expect((await signIn(undefined, 'not the password')).json()).toMatchObject({ error: 'invalid_grant' })
  })

  test('takes the present code once, also by two requests at once', async () => {
    const { secret } = await turnOn()
    const code = codeNow(secret)
    const replies = await Promise.all([signIn(code), signIn(code), signIn(code)])
    expect(replies.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 401, 401])
    expect((await signIn(code)).statusCode).toBe(401)
    auth.time.advance(30_000)
    expect((await signIn(codeNow(secret))).statusCode).toBe(200)
  })

  test('refuses a wrong code with the bytes of a wrong password, and counts it', async () => {
    const { secret } = await turnOn()
    const wrong = codeNow(secret, 7)
    const [byCode, byPassword] = [await signIn(wrong), await signIn(undefined, 'not the password')]
    const comparable = ({ statusCode, body }: typeof byCode) => [
      statusCode,
      body.replace(/"datetime":"[^"]*"/, ''),
    ]
    expect(comparable(byCode)).toEqual(comparable(byPassword))
    for (let i = 0; i < 8; i++) await signIn(wrong)
    expect((await signIn(codeNow(secret))).statusCode).toBe(429)
  })

  test('verifies at most as many concurrent guesses as may be under way, and then makes the caller wait', async () => {
    const { secret } = await turnOn()
    const wrong = codeNow(secret, 7)
    const replies = []
    for (let wave = 0; wave < 4; wave++)
      replies.push(...(await Promise.all(Array.from({ length: 36 }, () => signIn(wrong)))))
    const refused = replies.filter(({ statusCode }) => statusCode === 401)
    // Ten are free; four more may have been under way when the tenth counted.
    expect(refused.length).toBeGreaterThanOrEqual(10)
    expect(refused.length).toBeLessThanOrEqual(14)
    expect((await signIn(codeNow(secret))).statusCode).toBe(429)
  })

  test('takes a recovery code once, however it is written', async () => {
    const { recoveryCodes } = await turnOn()
    const [first = '', second = ''] = recoveryCodes
    expect((await signIn(first)).statusCode).toBe(200)
    expect((await signIn(first)).statusCode).toBe(401)
    expect((await signIn(second.toUpperCase().replace('-', ' '))).statusCode).toBe(200)
    expect((await auth.call(token, 'GET', url)).json().data.recoveryCodes).toBe(8)
    expect((await auth.auditTrail()).filter((entry) => entry.startsWith('recovery-code-use'))).toHaveLength(2)
  })
})

describe('the pages', () => {
  test('ask for the code after the password, and go on with it', async () => {
    const { secret } = await turnOn()
    const { browser, page } = await walkToPassword(auth, email)
    expect(page.status).toBe(200)
    expect(page.text).toContain('autocomplete="one-time-code"')
    const wrong = await browser.submit(page, { code: codeNow(secret, 9) })
    expect(wrong.status).toBe(401)
    const done = await browser.submit(wrong, { code: codeNow(secret) })
    expect(returned(done).searchParams.get('code')).toMatch(/^[\w-]{43}$/)
    expect((await browser.submit(wrong, { code: codeNow(secret, 1) })).status).toBe(400)
  })

  test('want the password again after five wrong codes', async () => {
    const { secret } = await turnOn()
    const { browser, page } = await walkToPassword(auth, email)
    const wrong = { code: codeNow(secret, 9) }
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await browser.submit(page, wrong)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401])
    expect((await browser.submit(page, { code: codeNow(secret) })).status).toBe(400)
  })

  test('give nothing for the second step alone, after a change of the password', async () => {
    const { secret } = await turnOn()
    const { browser, page } = await walkToPassword(auth, email)
    await auth.accounts.setPassword(email, 'another field of 9 poppies')
    expect((await browser.submit(page, { code: codeNow(secret) })).status).toBe(400)
  })
})

describe('turning off', () => {
  test('takes the password; then a password is enough again', async () => {
    await turnOn()
    expect(
      (await auth.call(token, 'POST', `${url}/disable`, { password: 'not the password' })).statusCode,
    ).toBe(403)
    expect((await auth.call(token, 'POST', `${url}/disable`, { password: goodPassword })).statusCode).toBe(
      200,
    )
    expect((await signIn()).statusCode).toBe(200)
    expect(
      (await auth.call(token, 'POST', `${url}/disable`, { password: goodPassword })).json(),
    ).toMatchObject({
      error_code: 2012,
    })
  })

  test('new recovery codes void the old ones', async () => {
    const { recoveryCodes } = await turnOn()
    const renewed = await auth.call(token, 'POST', `${url}/recovery-codes`, { password: goodPassword })
    expect(renewed.statusCode).toBe(200)
    expect((await signIn(recoveryCodes[0])).statusCode).toBe(401)
    expect((await signIn(renewed.json().data.recoveryCodes[0])).statusCode).toBe(200)
  })

  test('of another user is an administrator’s, within the company, and ends their sessions', async () => {
    await turnOn()
    const userId: string = (await auth.get(token)).json().data.id
    const path = `/v2/entities/users/${userId}/authenticator`
    expect((await auth.call(token, 'DELETE', path)).statusCode).toBe(403)
    const root = (await auth.signIn('root@example.com')).json().access_token
    const unknown = await auth.call(root, 'DELETE', `/v2/entities/users/${'f'.repeat(24)}/authenticator`)
    expect(unknown.statusCode).toBe(404)
    expect((await auth.call(root, 'DELETE', path.replace(userId, userId.toUpperCase()))).statusCode).toBe(200)
    auth.time.advance(1000)
    expect((await auth.get(token)).statusCode).toBe(401)
    expect((await signIn()).statusCode).toBe(200)
  })

  test('of a user whose role allows more is refused', async () => {
    const { rows } = await relational.pool.query(
      'insert into roles (id, company_id, name) values ($1, $2, $3) returning id',
      [String(count).padStart(24, 'd'), auth.companyId, `helper ${count}`],
    )
    await relational.pool.query("insert into role_permissions values ($1, 'user', 'update')", [rows[0].id])
    await relational.pool.query('update users set role_id = $1 where email = $2', [rows[0].id, email])
    auth.time.advance(1000)
    const { rows: roots } = await relational.pool.query(
      "select id from users where email = 'root@example.com'",
    )
    const reply = await auth.call(token, 'DELETE', `/v2/entities/users/${roots[0].id}/authenticator`)
    expect(reply.statusCode).toBe(403)
  })
})
