import { expect } from 'vitest'
import type { RefusalReason } from '../../src/features/identity/single-sign-on/assertion/saml-refusal.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'
import type { IdentityProvider, IdpOptions, IdpPerson } from './identity-provider.ts'
import { genuineResponse, requestIdOf, signElement, unsigned } from './saml-forgery.ts'
import { type Browser, createBrowser, type SingleSignOnApp } from './single-sign-on.ts'

export const eve: IdpPerson = { nameId: 'eve', attributes: { email: 'eve@acme.example' } }

/** A sign-in that waits for its response. */
export interface Attempt {
  readonly browser: Browser
  readonly requestId: string
  /** A response to this very request. */
  respond(options?: IdpOptions, person?: IdpPerson): Promise<string>
}

/** Sign-ins in which each posts a message of its own. */
export function createAttempts(relational: Relational, app: SingleSignOnApp, idp: IdentityProvider) {
  const audience = `${app.seen.origin}/v2/sso/saml/${app.auth.companyId}/metadata`

  let networks = 0

  async function begin(): Promise<Attempt> {
    networks++
    // What one network may have written to the audit log is bounded.
    const browser = createBrowser(app, `198.18.${networks >> 8}.${networks & 255}`)
    const requestId = requestIdOf((await browser.start({ domain: 'acme.example' })).url)
    const respond = (options: IdpOptions = {}, person = eve) =>
      genuineResponse(idp, person, { audience, inResponseTo: requestId, ...options })
    return { browser, requestId, respond }
  }

  /** Posts a message. @returns what became of the sign-in */
  async function post(browser: Browser, xml: string | Buffer): Promise<string> {
    const SAMLResponse = Buffer.from(xml as string).toString('base64')
    const reply = await browser.post(app.auth.companyId, { SAMLResponse })
    if (reply.statusCode === 303) await browser.follow(reply)
    else expect(reply.statusCode).toBe(403)
    return app.seen.outcomes.at(-1) ?? 'nothing'
  }

  /** Every refusal is in the audit log by its name, and nobody is let in. */
  async function expectRefused(browser: Browser, xml: string | Buffer, reason: RefusalReason): Promise<void> {
    expect(await post(browser, xml)).toBe(reason)
    expect(await app.finished()).toEqual([])
    const { rows } = await relational.pool.query(
      `select company_id, outcome, error, details from audit_entries where action = 'sso-sign-in' order by at desc, id desc limit 1`,
    )
    expect(rows[0]).toMatchObject({
      company_id: app.auth.companyId,
      outcome: 'failure',
      error: 'singleSignOnRefused',
      details: { reason, reference: expect.stringMatching(/^[0-9a-f]{24}$/) },
    })
  }

  return {
    begin,
    post,
    expectRefused,
    /** A response that says something else, signed anew as the identity provider would. */
    edited: (edit: (xml: string) => string) => (xml: string) =>
      signElement(edit(unsigned(xml)), { key: idp.key, cert: idp.cert }),
  }
}

export type Attempts = ReturnType<typeof createAttempts>
