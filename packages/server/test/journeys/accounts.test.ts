import { afterAll, beforeAll, expect, test } from 'vitest'
import { challengeOf, verifier } from '../support/authorization.ts'
import { createFormBrowser, fetched } from '../support/form-browser.ts'
import { linkMailedTo, mailTo } from '../support/outbox.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

const redirectUri = 'https://app.example/signed-in'
const email = 'grace@corp.example'
const password = 'a harbour with 9 lanterns'

let service: Service
let origin: string
let clientId: string

beforeAll(async () => {
  service = await startService()
  origin = new URL(service.baseUrl).origin
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
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  removeData(service)
})

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = JSON.stringify(body)
  return fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  })
}

const readsDatasources = async (token: string): Promise<number> =>
  (await fetch(`${origin}/v2/datasources`, { headers: { authorization: `Bearer ${token}` } })).status

test('a user is invited, chooses a password, signs in, refreshes, is deactivated by SCIM and is refused', async () => {
  const roles = await service.dataOf<{ id: string; name: string }[]>('GET', '/entities/roles')
  const teams = await service.dataOf<{ id: string }[]>('GET', '/entities/teams')
  const roleId = roles.find(({ name }) => name === 'viewer')?.id
  const resourceGroupIds = teams.map(({ id }) => id)
  const invited = await service.dataOf<{ user: { id: string }; url: string }>(
    'POST',
    '/entities/invitations',
    {
      email,
      roleId,
      resourceGroupIds,
    },
  )
  expect(invited.url.startsWith(`${origin}/v2/oauth/set-password?token=`)).toBe(true)
  expect(await mailTo(service, email)).toContain(invited.url)

  const browser = createFormBrowser(fetched(origin))
  const welcome = await browser.open(invited.url)
  expect(welcome.text).toContain('Welcome: choose a password')
  const set = await browser.submit(welcome, { password, repeated: password })
  expect(set.text).toContain('Your password is set')

  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: challengeOf(verifier),
    state: 's',
  })
  const first = await browser.open(`/v2/oauth/authorize?${parameters}`)
  const second = await browser.submit(first, { username: email })
  const back = await browser.submit(second, { password })
  expect(back.status).toBe(303)
  const code = new URL(String(back.reply.headers.location)).searchParams.get('code')
  const granted = await post('/v2/auth/token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  expect(granted.status).toBe(200)
  const tokens = (await granted.json()) as { access_token: string; refresh_token: string }
  expect(await readsDatasources(tokens.access_token)).toBe(200)

  const refreshed = await post('/v2/auth/token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: tokens.refresh_token,
  })
  expect(refreshed.status).toBe(200)
  const { access_token: later } = (await refreshed.json()) as { access_token: string }

  await service.dataOf('PATCH', '/entities/scim/config', { enabled: true })
  const { token: secret } = await service.dataOf<{ token: string }>('POST', '/entities/scim/tokens', {
    label: 'directory',
  })
  const scim = (path: string, init: RequestInit = {}) =>
    fetch(`${origin}/v2/scim/v2${path}`, {
      ...init,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/scim+json' },
    })
  const adopted = await scim('/Users', {
    method: 'POST',
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: email,
      externalId: '00u1',
      name: { givenName: 'Grace', familyName: 'Hopper' },
      active: true,
    }),
  })
  expect(adopted.status).toBe(201)
  const { id } = (await adopted.json()) as { id: string }
  expect(id).toBe(invited.user.id)
  // The link of an invitation is answered, too: what was chosen behind it ends when the identity provider takes over.
  expect(await readsDatasources(later)).toBe(401)

  await service.dataOf('POST', '/entities/users/password-reset', { email })
  let link = invited.url
  const readLink = async () => {
    link = await linkMailedTo(service, email)
    return link
  }
  await expect.poll(readLink).not.toBe(invited.url)
  const own = 'a river with 12 herons'
  expect((await browser.submit(await browser.open(link), { password: own, repeated: own })).text).toContain(
    'Your password is set',
  )
  const entered = await post('/v2/auth/token', {
    grant_type: 'password',
    client_id: service.clientId,
    username: email,
    password: own,
  })
  const present = (await entered.json()) as { access_token: string; refresh_token: string }
  expect(await readsDatasources(present.access_token)).toBe(200)

  const deactivated = await scim(`/Users/${id}`, {
    method: 'PATCH',
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'Replace', path: 'active', value: 'False' }],
    }),
  })
  expect(deactivated.status).toBe(200)
  await expect.poll(() => readsDatasources(present.access_token)).toBe(401)
  for (const token of [later, tokens.access_token]) expect(await readsDatasources(token)).toBe(401)

  const again = await post('/v2/auth/token', {
    grant_type: 'refresh_token',
    client_id: service.clientId,
    refresh_token: present.refresh_token,
  })
  expect(again.status).toBe(400)
  const signIn = await post('/v2/auth/token', {
    grant_type: 'password',
    client_id: clientId,
    username: email,
    password: own,
  })
  expect(signIn.status).toBe(401)

  const log = await service.dataOf<{ action: string; outcome: string }[]>(
    'GET',
    `/entities/audit-log?targetId=${id}&perPage=100`,
  )
  const said = log.map(({ action, outcome }) => `${action} ${outcome}`).toReversed()
  expect(said).toContain('user-invite success')
  expect(said.filter((entry) => entry === 'user-deactivate success')).toHaveLength(1)
  expect(said.at(-1)).toBe('sign-in failure')
})

test('the administrator who is the last one stays, no matter who asks', async () => {
  const me = await service.dataOf<{ id: string }>('GET', '/entities/users/me')
  for (const [method, path, body] of [
    ['POST', `/entities/users/${me.id}/deactivate`, undefined],
    ['DELETE', `/entities/users/${me.id}`, undefined],
  ] as const) {
    const reply = await service.call(method, `/v2${path}`, body)
    expect([403, 409]).toContain(reply.status)
  }
  const { token: secret } = await service.dataOf<{ token: string }>('POST', '/entities/scim/tokens', {
    label: 'second',
  })
  const reply = await fetch(`${origin}/v2/scim/v2/Users/${me.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${secret}` },
  })
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({ scimType: 'mutability', status: '400' })
  expect((await service.dataOf<{ status: string }>('GET', `/entities/users/${me.id}`)).status).toBe('active')
})
