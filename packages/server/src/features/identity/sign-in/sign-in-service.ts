import type { RecordAudit } from '../../../platform/audit.ts'
import { isPasswordTooLong } from '../../../platform/crypto/passwords.ts'
import { hashSecret, isSecret, newSecret, type RandomBytes } from '../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Queries, Relational } from '../../../platform/stores/relational.ts'
import { isRegisteredRedirect } from '../sessions/clients/redirect-uri.ts'
import { type FamiliarStore, hashDevice } from '../sessions/familiar-store.ts'
import { createCodeStore, type PendingSignIn } from '../sessions/tokens/code-store.ts'
import type { Client, TokenStore } from '../sessions/tokens/token-store.ts'
import { type AuthorizationRequest, buildRedirect, toParameters } from './authorization-request.ts'
import type { Origin, PasswordCheck } from './passwords/password-check.ts'

export interface SignInServiceDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly tokens: Pick<TokenStore, 'findClient'>
  readonly familiar: Pick<FamiliarStore, 'rememberNetwork' | 'rememberDevice'>
  readonly passwordCheck: PasswordCheck
  readonly recordAudit: RecordAudit
  /** The company that signs in the people of a domain; undefined where passwords do. */
  readonly findSingleSignOn: (domain: string) => Promise<{ companyId: string; required: boolean } | undefined>
  /** Address under which people reach the service: the issuer of codes (RFC 9207). */
  readonly origin: () => string
  readonly random?: RandomBytes
}

/** After the last proof. */
type ProvenStep =
  | { readonly kind: 'consent'; readonly signIn: string; readonly email: string }
  | { readonly kind: 'done'; readonly location: string }

/** What comes next for somebody on the way in. */
export type NextStep =
  | { readonly kind: 'code'; readonly signIn: string }
  /** After a password with a new secret for the browser, by which it is known again. */
  | (ProvenStep & { readonly device?: string })

/** Somebody who has shown who they are, as far as it went. */
type Person = Pick<PendingSignIn, 'userId' | 'companyId' | 'email' | 'passwordHash' | 'method'>

/** Somebody who came back from their identity provider, with the request that their sign-in began with. */
export interface FinishedSingleSignOn extends Pick<PendingSignIn, 'userId' | 'companyId' | 'email'> {
  readonly method: 'sso'
  readonly request: AuthorizationRequest
  /** Names the browser. */
  readonly browser: string
  readonly address: string
}

interface Step {
  readonly client: Client
  readonly request: AuthorizationRequest
  /** Names the browser. */
  readonly browser: string
  readonly origin: Origin
}

/** Of one-time codes, before the password has to be given again. */
const mostTries = 5

/** The browser is on its way to the application, which asks at once. */
const keptSeconds = 120

export type SignInService = ReturnType<typeof createSignInService>

/** The steps of a sign-in in a browser, from an address to an authorization code. */
export function createSignInService(dependencies: SignInServiceDependencies) {
  const { relational, tokens, familiar, passwordCheck, recordAudit, findSingleSignOn, origin, random } =
    dependencies
  const codes = createCodeStore(relational.db)

  async function giveCode(tx: Queries, person: Person, { request, origin: from }: Step): Promise<string> {
    const code = newSecret(random)
    const { clientId, redirectUri, codeChallenge } = request
    const { userId, passwordHash, method } = person
    await createCodeStore(tx).insertCode({
      codeHash: hashSecret(code),
      userId,
      clientId,
      redirectUri,
      codeChallenge,
      method,
      passwordHash,
    })
    await recordAudit(tx, {
      companyId: person.companyId,
      action: method === 'sso' ? 'application-authorize' : 'sign-in',
      actor: { kind: 'user', id: userId, name: person.email },
      details: { method, clientId },
      address: from.address,
    })
    return buildRedirect(request, { code }, origin())
  }

  async function keepPending(
    { userId, method, passwordHash }: Pick<Person, 'userId' | 'method' | 'passwordHash'>,
    { client, browser }: { readonly client: Pick<Client, 'id'>; readonly browser: string },
    complete: boolean,
    seconds?: number,
  ): Promise<string> {
    const signIn = newSecret(random)
    const pending = { userId, clientId: client.id, method, passwordHash, complete }
    const hashes = { secretHash: hashSecret(signIn), browserHash: hashSecret(browser) }
    await codes.insertPending({ ...hashes, ...pending }, seconds)
    return signIn
  }

  /** After the last proof: to the application, or first to the question whether to let it in. */
  async function goOn(person: Person, step: Step): Promise<ProvenStep> {
    await codes.sweepEnded()
    const { client } = step
    const location = await relational.transaction(async (tx) => {
      const hasConsent =
        client.firstParty || (await createCodeStore(tx).lockConsent(person.userId, client.id))
      return hasConsent ? giveCode(tx, person, step) : undefined
    })
    if (location !== undefined) return { kind: 'done', location }
    return { kind: 'consent', signIn: await keepPending(person, step, true), email: person.email }
  }

  /** The same after a password: sign-ins of this user from here are not held while others are. */
  async function goOnFamiliar(person: Person, step: Step): Promise<NextStep> {
    const device = newSecret(random)
    const { address, device: former } = step.origin
    await familiar.rememberNetwork(person.userId, address)
    await familiar.rememberDevice(person.userId, hashDevice(former), hashDevice(device))
    return { ...(await goOn(person, step)), device }
  }

  async function findPending(signIn: string, { client, browser }: Step): Promise<PendingSignIn | undefined> {
    const found = isSecret(signIn)
      ? await codes.findPending(hashSecret(signIn), hashSecret(browser))
      : undefined
    return found?.clientId === client.id ? found : undefined
  }

  return {
    /**
     * How the people of this address's domain sign in, whoever of them there is.
     * @returns the address to go on at, and whether only that way is open
     */
    async findWay(email: string, request: AuthorizationRequest) {
      const domain = email.slice(email.lastIndexOf('@') + 1)
      const found = await findSingleSignOn(domain)
      if (!found) return undefined
      const parameters = toParameters(request)
      parameters.set('domain', domain)
      return { required: found.required, location: `${origin()}/v2/sso/saml/login?${parameters}` }
    },

    /** @throws DomainError `invalidCredentials`, `tooManyAttempts` or `signInUnavailable` */
    async signIn(username: string, password: string, step: Step): Promise<NextStep> {
      if (isPasswordTooLong(password)) throw new DomainError('invalidCredentials')
      const attempt = { findClient: async () => step.client, username, password }
      const user = await passwordCheck.verify(attempt, step.origin)
      const person: Person = { ...user, method: 'password' }
      if (user.needsCode) return { kind: 'code', signIn: await keepPending(person, step, false) }
      return goOnFamiliar(person, step)
    },

    /**
     * The one-time code of somebody whose password was right.
     * @returns undefined when this sign-in took too long or too many tries, or is another browser's
     * @throws DomainError `invalidCredentials` or `tooManyAttempts`
     */
    async giveOneTimeCode(signIn: string, code: string, step: Step): Promise<NextStep | undefined> {
      const pending = await findPending(signIn, step)
      if (!pending || pending.complete) return undefined
      if (!(await codes.takeTry(hashSecret(signIn), mostTries))) return undefined
      await passwordCheck.verifyCode(pending, code, step.client.id, step.origin)
      if (!(await codes.deletePending(hashSecret(signIn)))) return undefined
      return goOnFamiliar(pending, step)
    },

    /** Who is asked whether to let the application in; undefined as above. */
    async findAsked(signIn: string, step: Step): Promise<{ email: string } | undefined> {
      const pending = await findPending(signIn, step)
      return pending?.complete ? { email: pending.email } : undefined
    },

    /** The answer to that question, and where to go with it; undefined as above. */
    async decide(signIn: string, allowed: boolean, step: Step): Promise<string | undefined> {
      const pending = await findPending(signIn, step)
      if (!pending?.complete) return undefined
      const { client, request, origin: from } = step
      return relational.transaction(async (tx) => {
        const inside = createCodeStore(tx)
        if (!(await inside.deletePending(hashSecret(signIn)))) return undefined
        await recordAudit(tx, {
          companyId: pending.companyId,
          action: 'application-consent',
          actor: { kind: 'user', id: pending.userId, name: pending.email },
          target: { kind: 'client', id: client.id, name: client.name },
          details: { allowed },
          address: from.address,
        })
        if (!allowed) {
          const error_description = 'The user has refused access'
          return buildRedirect(request, { error: 'access_denied', error_description }, origin())
        }
        await inside.insertConsent(pending.userId, client.id)
        return giveCode(tx, pending, step)
      })
    },

    /**
     * Keeps what single sign-on has finished before the application asked for it, for one request of this browser.
     * @returns its secret
     */
    async keepSingleSignOn(kept: {
      readonly userId: string
      readonly clientId: string
      readonly browser: string
    }): Promise<string> {
      const { userId, clientId, browser } = kept
      const person = { userId, method: 'sso', passwordHash: null } as const
      return keepPending(person, { client: { id: clientId }, browser }, true, keptSeconds)
    },

    /** Takes such a sign-in for the one request; undefined when there is none for this browser and application. */
    async resume(signIn: string, step: Step): Promise<NextStep | undefined> {
      const pending = await findPending(signIn, step)
      if (!pending?.complete || pending.method !== 'sso') return undefined
      return (await codes.deletePending(hashSecret(signIn))) ? goOn(pending, step) : undefined
    },

    /**
     * Goes on for somebody whom single sign-on has vouched for.
     * @returns the address to go to, in the end the application's with a code
     * @throws DomainError `invalidClient` when the client is gone or closed since the sign-in began
     */
    async finishSingleSignOn({ request, browser, address, ...known }: FinishedSingleSignOn): Promise<string> {
      const client = await tokens.findClient(request.clientId)
      if (!client || !isRegisteredRedirect(client.redirectUris, request.redirectUri))
        throw new DomainError('invalidClient')
      const step = {
        client,
        request,
        browser,
        origin: { address, cookieToken: undefined, device: undefined },
      }
      const next = await goOn({ ...known, passwordHash: null }, step)
      if (next.kind === 'done') return next.location
      const parameters = toParameters(request)
      parameters.set('sign_in', next.signIn)
      return `${origin()}/v2/oauth/consent?${parameters}`
    },
  }
}
