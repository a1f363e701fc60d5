import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { authorizationFor, exchange } from '../support/authorization.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { configureSingleSignOn, createSingleSignOnApp, redirectUri } from '../support/single-sign-on.ts'

test('a user signs in over real sockets: our page, the identity provider, its form, our two answers', async () => {
  const relational = await createTestDatabase()
  const app = await createSingleSignOnApp(relational)
  const idp = await startIdentityProvider()
  try {
    await app.auth.app.listen({ host: '127.0.0.1', port: 0 })
    app.seen.origin = `http://127.0.0.1:${(app.auth.app.server.address() as AddressInfo).port}`
    const { acsUrl } = await configureSingleSignOn(app, idp)
    const { id } = await app.auth.addUser('ada@acme.example')
    idp.state.person = { nameId: 'ada', attributes: { email: 'ada@acme.example' } }

    const query = new URLSearchParams(authorizationFor(app.auth, { domain: 'acme.example', state: 'xyz' }))
    const page = await fetch(`${app.seen.origin}/v2/sso/saml/login?${query}`)
    expect(page.status).toBe(200)
    const cookie = page.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ')
    const [, signInUrl = ''] = /content="0;url=([^"]*)"/.exec(await page.text()) ?? []
    const { action, samlResponse } = await idp.answer(signInUrl.replaceAll('&amp;', '&'))
    expect(action).toBe(acsUrl)

    const body = new URLSearchParams({ SAMLResponse: samlResponse, RelayState: '' })
    const taken = await fetch(action, { method: 'POST', body, redirect: 'manual' })
    expect(taken.status).toBe(303)
    const finished = await fetch(taken.headers.get('location') ?? '', {
      headers: { cookie },
      redirect: 'manual',
    })
    expect(finished.status).toBe(303)
    const location = String(finished.headers.get('location'))
    expect(location.startsWith(`${redirectUri}&`)).toBe(true)
    const { searchParams } = new URL(location)
    expect(searchParams.get('state')).toBe('xyz')
    const granted = await exchange(app.auth, String(searchParams.get('code')))
    expect(granted.statusCode).toBe(200)
    expect(finished.headers.getSetCookie().join('\n')).toMatch(/^sso_.*Max-Age=0/m)
    const { rows } = await relational.pool.query(
      'select user_id, method from refresh_tokens where user_id = $1',
      [id],
    )
    expect(rows).toEqual([{ user_id: id, method: 'sso' }])
    expect((await app.auth.auditTrail()).filter((entry) => entry === 'sso-sign-in success')).toHaveLength(1)
  } finally {
    await app.auth.app.close()
    await idp.close()
    await relational.close()
  }
})
