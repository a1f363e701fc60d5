import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

const library = readFileSync(fileURLToPath(import.meta.resolve('oauth4webapi')), 'utf8')

/** What the page has done in the end, in its element `#outcome`, as JSON. */
export interface Outcome {
  readonly error?: string
  /** What `/v2/statistics/meta` answers. */
  readonly status?: number
  readonly measures?: number
  /** The same without a token. */
  readonly refused?: { readonly status: number; readonly challenge: string | null }
  readonly refreshed?: boolean
  readonly accessToken?: string
}

/** An ordinary application of one page: an OAuth library, the interface, and no server of its own. */
const page = `<!doctype html><title>Application</title><pre id="outcome"></pre>
<script type="module">
import * as oauth from '/oauth4webapi.js'
const say = (outcome) => { document.getElementById('outcome').textContent = JSON.stringify(outcome) }
try {
  const { issuer: address, clientId } = await (await fetch('/settings.json')).json()
  const issuer = new URL(address)
  const options = { [oauth.allowInsecureRequests]: true }
  const client = { client_id: clientId }
  const redirectUri = location.origin + '/signed-in'
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options })
  const server = await oauth.processDiscoveryResponse(issuer, discovered)
  if (location.pathname !== '/signed-in') {
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    sessionStorage.setItem('verifier', verifier)
    sessionStorage.setItem('state', state)
    const to = new URL(server.authorization_endpoint)
    to.search = new URLSearchParams({
      client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
    })
    location.assign(to)
  } else {
    const answer = oauth.validateAuthResponse(server, client, new URL(location.href), sessionStorage.getItem('state'))
    const granted = await oauth.processAuthorizationCodeResponse(server, client,
      await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), answer, redirectUri,
        sessionStorage.getItem('verifier'), options))
    const refreshed = await oauth.processRefreshTokenResponse(server, client,
      await oauth.refreshTokenGrantRequest(server, client, oauth.None(), granted.refresh_token, options))
    const meta = issuer.origin + '/v2/statistics/meta'
    const read = () => fetch(meta, { headers: { authorization: 'Bearer ' + refreshed.access_token } })
    let reply = await read()
    // Busy for the moment: the page can read for how long.
    while (reply.status === 503) {
      const seconds = Number(reply.headers.get('retry-after'))
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
      reply = await read()
    }
    const { data } = await reply.json()
    const refused = await fetch(meta)
    say({
      status: reply.status,
      measures: Object.keys(data.measures ?? {}).length,
      refused: { status: refused.status, challenge: refused.headers.get('www-authenticate') },
      refreshed: refreshed.access_token !== granted.access_token,
      accessToken: refreshed.access_token,
    })
  }
} catch (error) {
  say({ error: error.name + ': ' + error.message })
}
</script>`

export interface BrowserApplication {
  readonly origin: string
  /** Where it signs in; known once its client is. */
  configure(settings: { readonly issuer: string; readonly clientId: string }): void
  close(): void
}

export async function serveBrowserApplication(): Promise<BrowserApplication> {
  let settings = {}
  const server = createServer(({ url = '/' }, response) => {
    const path = url.split('?', 1)[0]
    const [type, body] =
      path === '/oauth4webapi.js'
        ? ['text/javascript', library]
        : path === '/settings.json'
          ? ['application/json', JSON.stringify(settings)]
          : path === '/blank'
            ? ['text/html', '<!doctype html><title>Another page</title>']
            : ['text/html', page]
    response.setHeader('content-type', `${type}; charset=utf-8`)
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    configure(next) {
      settings = next
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
