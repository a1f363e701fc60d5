/**
 * The session of the page: authorization code with PKCE, the refresh token in a cookie that no script reads, the access
 * token in memory (docs/accounts.md, Sign users in to an application).
 */

/** The OAuth client of the console. */
export const clientId = document.querySelector<HTMLMetaElement>('meta[name="millrace-client"]')?.content ?? ''
const home = `${location.origin}/console/`
const attemptPrefix = 'millrace-sign-in-'

export type SessionState = 'opening' | 'open' | 'ended' | 'closed'

interface Granted {
  readonly access_token: string
  readonly expires_in: number
}

/** The service has no session for this page, or ended it. */
export class SessionEnded extends Error {
  override readonly name = 'SessionEnded'
}

const channel = new BroadcastChannel('millrace-session')
const listeners = new Set<() => void>()
let state: SessionState = 'opening'
let token: { readonly value: string; readonly renewAt: number } | undefined
let renewing: Promise<string> | undefined

function become(next: SessionState): void {
  if (state === next) return
  state = next
  for (const listener of listeners) listener()
}

channel.onmessage = ({ data }) => {
  if (data === 'signed-in') become('open')
  if (data === 'signed-out') {
    token = undefined
    become('closed')
  }
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)))

async function post(path: string, body: Record<string, string>): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: clientId, ...body }),
  })
}

function take({ access_token, expires_in }: Granted): string {
  token = { value: access_token, renewAt: performance.now() + expires_in * 900 }
  become('open')
  return access_token
}

/** @throws {SessionEnded} where the cookie stands for no session; another error where the service does not answer */
async function renew(): Promise<string> {
  const reply = await post('/v2/auth/token', { grant_type: 'refresh_token' })
  if (reply.ok) return take((await reply.json()) as Granted)
  if (reply.status >= 500 || reply.status === 429) throw new TypeError(`the service answered ${reply.status}`)
  token = undefined
  if (state === 'open') become('ended')
  throw new SessionEnded('You are not signed in')
}

interface Attempt {
  readonly verifier: string
  readonly returnTo: string
  /** In a window of its own, beside the page that keeps what was typed. Its name and opener do not outlive the way. */
  readonly isBeside?: boolean
}

async function signInUrl(returnTo: string, isBeside = false): Promise<string> {
  const verifier = random()
  const attempt = random()
  sessionStorage.setItem(
    attemptPrefix + attempt,
    JSON.stringify({ verifier, returnTo, isBeside } satisfies Attempt),
  )
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: home,
    state: attempt,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  })
  return `/v2/oauth/authorize?${query}`
}

interface Opened {
  /** Why a sign-in failed. */
  readonly failure?: string
  /** The browser goes to the sign-in page, or closes the window. */
  readonly leaving?: true
}

/** Takes the answer of the sign-in page out of the address. */
async function finish(query: URLSearchParams): Promise<Opened> {
  const key = attemptPrefix + query.get('state')
  const kept = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  const { verifier, returnTo, isBeside } = (kept === null ? {} : JSON.parse(kept)) as Partial<Attempt>
  history.replaceState(null, '', returnTo?.startsWith('/console/') ? returnTo : '/console/')
  // The answer to another page, one that was taken already, or a link with words of its own: the session, if there is
  // one, decides.
  if (verifier === undefined) return {}
  const code = query.get('code')
  if (code === null) return { failure: query.get('error_description') ?? query.get('error') ?? '' }
  const reply = await post('/v2/auth/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: home,
    code_verifier: verifier,
    refresh_token_in: 'cookie',
  })
  if (!reply.ok)
    return { failure: ((await reply.json()) as { error_description?: string }).error_description ?? '' }
  take((await reply.json()) as Granted)
  channel.postMessage('signed-in')
  if (!isBeside) return {}
  window.close()
  // A browser that lets no page close the window shows the console in it.
  return window.closed ? { leaving: true } : {}
}

export const session = {
  state: () => state,
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },

  /** Another than the `refused` one. @throws {SessionEnded} */
  async accessToken(refused?: string): Promise<string> {
    if (token && token.value !== refused && performance.now() < token.renewAt) return token.value
    renewing ??= renew().finally(() => {
      renewing = undefined
    })
    return renewing
  },

  /** Opens the session of the page, or leaves for the sign-in page. */
  async open(): Promise<Opened> {
    const query = new URLSearchParams(location.search)
    if (query.has('state') && (query.has('code') || query.has('error'))) {
      const opened = await finish(query)
      if (opened.failure !== undefined) become('closed')
      if (opened.failure !== undefined || opened.leaving) return opened
    }
    try {
      await session.accessToken()
      return {}
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error
      await session.signIn()
      return { leaving: true }
    }
  },

  async signIn(): Promise<void> {
    location.assign(await signInUrl(location.pathname + location.search + location.hash))
  },

  /** In a window of its own, so that the page keeps what was typed. */
  async signInAgain(): Promise<void> {
    // The window gets a copy of this one's storage, with the attempt, as it is opened.
    const url = await signInUrl('/console/', true)
    if (window.open(url, '_blank', 'popup,width=480,height=720') === null) await session.signIn()
  },

  async signOut(): Promise<void> {
    await post('/v2/oauth/revoke', {})
    token = undefined
    channel.postMessage('signed-out')
    become('closed')
  },
}
