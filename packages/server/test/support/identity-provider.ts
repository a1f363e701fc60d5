import { once } from 'node:events'
import { createServer, request as send } from 'node:https'
import type { AddressInfo } from 'node:net'
import samlp from 'samlp'
import { createSelfSignedCertificate } from '../../src/platform/crypto/self-signed-certificate.ts'

/** A user whom the identity provider knows. */
export interface IdpPerson {
  readonly nameId: string
  readonly nameIdFormat?: string
  /** A value that is a list becomes several values. */
  readonly attributes: Readonly<Record<string, string | readonly string[]>>
}

/** Replaces what the identity provider would say; every name is an option of `samlp`. */
export type IdpOptions = Readonly<Record<string, unknown>>

const day = 86_400_000

/** A key with a certificate that is valid from yesterday on. */
export function makeKey(days = 3650, bits = 2048) {
  const now = Date.now()
  const notBefore = new Date(Math.min(now, now + days * day) - day)
  const notAfter = new Date(now + days * day)
  return createSelfSignedCertificate({ name: 'idp.example', notBefore, notAfter, bits })
}

/** In base64, of an RSA key whose exponent has 65 bits; valid for a hundred years. */
export const oddCertificate =
  'MIIDFTCCAf2gAwIBAgIUTdC0/j3Cj44Okt9mIAbqxN+Yk+UwDQYJKoZIhvcNAQELBQAwFjEUMBIGA1UEAwwLaWRwLmV4YW1wbGUwIBcNMjYxMTIyMDEzNTMzWhgPMjEyNjEwMjkwMTM1MzNaMBYxFDASBgNVBAMMC2lkcC5leGFtcGxlMIIBKDANBgkqhkiG9w0BAQEFAAOCARUAMIIBEAKCAQEAtegUrO3wMplp4jEdRXX3kQ70FwTy++3E/lmnH6WJlYgDAz+fB8ZzBIngu63jA9O6rFujY16s3FG+M7koR6Rpw4e3NP3XW/hE85rW7u9kk5jwHHvawxrFvwdmOHDs3AV69i/aRIUSGF9TAKbzBKNYlczYQ9KODlY+zF6XB9ITAMjh4OzTVyr62K9DFWjUf9KyhxIIZH4uDNIX3GRI8NqH+8gE6sSOpJfm0WhvcGbuYvkrc0HpSHPbNga4du2ymqX9MdOuZwv2ZIN3zoIQxe1BBOembG/jZKagl70OIjNXYRXMecndZQtA5iThcUHmDFNheyvLtnrzh+GwW/PgQlIqawIJAQAAAAAAAAANo1MwUTAdBgNVHQ4EFgQUmP1cNc56piI8AW+/DdksdTcAKF4wHwYDVR0jBBgwFoAUmP1cNc56piI8AW+/DdksdTcAKF4wDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAKTqb6RrETfVQgoMYAmAv+ailEekydT3/KX0tDUGQ+OQVJdJ6m/OejDKJazAUHJO5Sarv93nQAdd/2o8bZpubAEOs9PHqd7x6AD170LgsRA5XTt419ofx05Jbwz7IG0dwNoT+iiyzEMFkeoApH2KSlY1MRy6cA3LxEnyPcFyc17GSPc9ZiRtzZmNkZ/2ktVLWF4hg6gCJ2wDIWlD8xqoUpKWifq3hJG2l5PCyL3eXjUJqfvuxcEut+OXVjeiVdAAUGAqtIWHDi/BMdNdVxIjzanSU8m+njAkhehwEH6thQVxvs1K5/Oky5axXDD/KQw1fBgmKxMwntd1YxWt+8Vul/g=='

/** How `samlp` reads a person. */
export const profileMapper = (person: unknown) => {
  const { nameId, nameIdFormat, attributes } = person as IdpPerson
  return {
    getClaims: () => ({ ...attributes }),
    getNameIdentifier: () => ({
      nameIdentifier: nameId,
      ...(nameIdFormat === undefined ? {} : { nameIdentifierFormat: nameIdFormat }),
    }),
  }
}

/** Our signing certificate as it stands in our metadata. */
export function certificateOf(metadata: string): string {
  const [, text = ''] = /<ds:X509Certificate>([^<]+)</.exec(metadata) ?? []
  return `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/\s/g, '').replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`
}

/** A page of an https server whose certificate nobody signed. */
export function visit(url: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = send(url, { rejectUnauthorized: false }, (reply) => {
      let body = ''
      reply.setEncoding('utf8')
      reply.on('data', (part) => {
        body += part
      })
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body }))
    })
    request.on('error', reject).end()
  })
}

/**
 * An identity provider of its own process-wide key on a real https server, made of the package `samlp`: it reads
 * our signed requests and answers with signed assertions, in a form that posts itself.
 */
export async function startIdentityProvider() {
  const { privateKey: key, certificate: cert } = await makeKey()
  const state = {
    /** Who is signed in there; nobody is asked for a password. */
    person: undefined as IdpPerson | undefined,
    options: {} as IdpOptions,
    /** Our certificate: requests that it has not signed are refused. */
    signingCert: undefined as string | undefined,
    acsUrl: '',
  }
  let origin = ''
  const entityId = () => `${origin}/metadata`

  const handle = (
    url: URL,
    reply: { set(name: string, value: string): void; send(body: string | number): void },
  ) => {
    const request = {
      method: 'GET',
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host },
      originalUrl: url.pathname,
      protocol: 'https',
      user: state.person,
    }
    const fail = (error: Error) => reply.send(error.message)
    if (url.pathname === '/metadata')
      return samlp.metadata({ issuer: entityId(), cert, redirectEndpointPath: '/sign-in' })(
        request,
        reply,
        fail,
      )
    return samlp.auth({
      issuer: entityId(),
      cert,
      key,
      profileMapper,
      lifetimeInSeconds: 300,
      ...(state.signingCert === undefined ? {} : { signingCert: state.signingCert }),
      recipient: state.acsUrl,
      destination: state.acsUrl,
      getPostURL: (_audience, _request, _req, done) => done(null, state.acsUrl),
      ...state.options,
    })(request, reply, fail)
  }

  const server = createServer({ key, cert }, (request, response) => {
    handle(new URL(request.url ?? '/', origin), {
      set: (name, value) => void response.setHeader(name, value),
      send: (body) => void response.end(String(body)),
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    origin,
    key,
    cert,
    entityId: entityId(),
    state,
    metadata: async (): Promise<string> => (await visit(`${origin}/metadata`)).body,

    /** Goes where our page leads, as a browser does. @returns the fields of the form that comes back */
    async answer(signInUrl: string): Promise<{ action: string; samlResponse: string; body: string }> {
      const { body } = await visit(signInUrl)
      const field = (name: string) => new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(body)?.[1] ?? ''
      const action = /<form[^>]*action="([^"]*)"/.exec(body)?.[1] ?? ''
      return { action: action.replaceAll('&#x2F;', '/'), samlResponse: field('SAMLResponse'), body }
    },

    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>
