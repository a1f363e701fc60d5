import { createHash } from 'node:crypto'
import { type Auth, goodPassword, testRedirectUri } from './auth.ts'
import { createFormBrowser, type FormBrowser, injected, type Shown } from './form-browser.ts'

export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

export const challengeOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Parameters of an authorization request of the test's client. */
export const authorizationFor = (auth: Auth, more: Record<string, string> = {}): Record<string, string> => ({
  client_id: auth.clientId,
  redirect_uri: testRedirectUri,
  response_type: 'code',
  state: 'some state & more',
  code_challenge: challengeOf(verifier),
  code_challenge_method: 'S256',
  ...more,
})

export interface Walk {
  readonly browser: FormBrowser
  /** What came after the password. */
  readonly page: Shown
}

/** Walks through the pages up to the answer to the password. */
export async function walkToPassword(
  auth: Auth,
  email: string,
  password = goodPassword,
  more: Record<string, string> = {},
  from = '192.0.2.1',
  browser = createFormBrowser(injected(auth.app, from)),
): Promise<Walk> {
  const first = await browser.open(`/v2/oauth/authorize?${new URLSearchParams(authorizationFor(auth, more))}`)
  const second = await browser.submit(first, { username: email })
  return { browser, page: await browser.submit(second, { password }) }
}

/** Where an application is returned to. */
export function returned(page: Shown): URL {
  if (page.status !== 303) throw new Error(`not returned: ${page.status} ${page.text}`)
  return new URL(String(page.reply.headers.location))
}

/** A fresh code of a user. */
export async function codeOf(auth: Auth, email: string, more: Record<string, string> = {}): Promise<string> {
  const { page } = await walkToPassword(auth, email, goodPassword, more)
  return returned(page).searchParams.get('code') ?? ''
}

export const exchange = (auth: Auth, code: string, more: Record<string, string> = {}) =>
  auth.post({
    grant_type: 'authorization_code',
    client_id: auth.clientId,
    code,
    redirect_uri: testRedirectUri,
    code_verifier: verifier,
    ...more,
  })
