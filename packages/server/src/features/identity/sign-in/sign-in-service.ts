import { auditEventOf } from '../../../platform/audit.ts'
import { isPasswordTooLong } from '../../../platform/crypto/passwords.ts'
import { hashSecret, isSecret, newSecret } from '../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { isRegisteredRedirect } from '../sessions/clients/redirect-uri.ts'
import { type FamiliarStore, hashDevice } from '../sessions/familiar-store.ts'
import type { IdentityContext } from '../sessions/identity-context.ts'
import { createCodeStore, type PendingSignIn } from '../sessions/tokens/code-store.ts'
import type { Client, TokenStore } from '../sessions/tokens/token-store.ts'
import { type AuthorizationRequest, buildRedirect, toParameters } from './authorization-request.ts'
import type { PasswordCheck, RequestSource } from './passwords/password-check.ts'

export interface SignInServiceDependencies extends IdentityContext {
  readonly tokens: Pick<TokenStore, 'findClient'>
  readonly familiar: Pick<FamiliarStore, 'rememberNetwork' | 'rememberDevice'>
  readonly passwordCheck: PasswordCheck
  /** The company with single sign-on for a domain; undefined where there is none. */
  readonly findSingleSignOn: (domain: string) => Promise<{ companyId: string; required: boolean } | undefined>
}

/** After the last proof. */
type ProvenStep =
  | { readonly kind: 'consent'; readonly signIn: string; readonly email: string }
  | { readonly kind: 'done'; readonly location: string }

/** The next step of a sign-in. */
export type NextStep =
  | { readonly kind: 'code'; readonly signIn: string }
  /** After a password with a new secret for the browser, by which it is known again. */
  | (ProvenStep & { readonly device?: string })

/** The user of a sign-in under way. */
type SignInUser = Pick<PendingSignIn, 'userId' | 'companyId' | 'email' | 'passwordHash' | 'method'>

/** A user whom the identity provider has authenticated, with the request that began the sign-in. */
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
  readonly source: RequestSource
}

/** Of one-time codes, before the password has to be given again. */
const maxTries = 5

/** The browser is being redirected to the application, which asks at once. */
const keptSeconds = 120

export type SignInService = ReturnType<typeof createSignInService>

/** The steps of a sign-in in a browser, from an address to an authorization code. */
export function createSignInService(dependencies: SignInServiceDependencies) {
  const { relational, tokens, familiar, passwordCheck, recordAudit, findSingleSignOn, publicUrl, random } =
    dependencies
  const codes = createCodeStore(relational.db)

  async function issueCode(tx: Queries, user: SignInUser, { request, source }: Step): Promise<string> {
    const code = newSecret(random)
    const { clientId, redirectUri, codeChallenge } = request
    const { userId, passwordHash, method } = user
    const granted = { userId, clientId, redirectUri, codeChallenge, method, passwordHash }
    await createCodeStore(tx).insertCode({ codeHash: hashSecret(code), ...granted })
    const action = method === 'sso' ? 'application-authorize' : 'sign-in'
    const caller = { principal: user, address: source.address }
    await recordAudit(tx, auditEventOf(caller, action, undefined, { method, clientId }))
    return buildRedirect(request, { code }, publicUrl())
  }

  async function keepPending(
    { userId, method, passwordHash }: Pick<SignInUser, 'userId' | 'method' | 'passwordHash'>,
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

  /** After the last proof: to the application, or first to the consent page. */
  async function continueSignIn(user: SignInUser, step: Step): Promise<ProvenStep> {
    await codes.sweepEnded()
    const { client } = step
    const location = await relational.transaction(async (tx) => {
      const hasConsent = client.firstParty || (await createCodeStore(tx).lockConsent(user.userId, client.id))
      return hasConsent ? issueCode(tx, user, step) : undefined
    })
    if (location !== undefined) return { kind: 'done', location }
    return { kind: 'consent', signIn: await keepPending(user, step, true), email: user.email }
  }

  /** The same after a password: sign-ins of this user from here are not held while others are. */
  async function continueFamiliar(user: SignInUser, step: Step): Promise<NextStep> {
    const device = newSecret(random)
    const { address, device: former } = step.source
    await familiar.rememberNetwork(user.userId, address)
    await familiar.rememberDevice(user.userId, hashDevice(former), hashDevice(device))
    return { ...(await continueSignIn(user, step)), device }
  }

  async function findPending(signIn: string, { client, browser }: Step): Promise<PendingSignIn | undefined> {
    const found = isSecret(signIn)
      ? await codes.findPending(hashSecret(signIn), hashSecret(browser))
      : undefined
    return found?.clientId === client.id ? found : undefined
  }

  return {
    /**
     * Single sign-on of an address's domain, the same whether or not there is such a user.
     * @returns where it begins, and whether it is required
     */
    async findWay(email: string, request: AuthorizationRequest) {
      const domain = email.slice(email.lastIndexOf('@') + 1)
      const found = await findSingleSignOn(domain)
      if (!found) return undefined
      const parameters = toParameters(request)
      parameters.set('domain', domain)
      return { required: found.required, location: `${publicUrl()}/v2/sso/saml/login?${parameters}` }
    },

    /** @throws DomainError `invalidCredentials`, `tooManyAttempts` or `signInUnavailable` */
    async signIn(username: string, password: string, step: Step): Promise<NextStep> {
      if (isPasswordTooLong(password)) throw new DomainError('invalidCredentials')
      const attempt = { findClient: async () => step.client, username, password }
      const verified = await passwordCheck.verify(attempt, step.source)
      const user: SignInUser = { ...verified, method: 'password' }
      if (verified.needsCode) return { kind: 'code', signIn: await keepPending(user, step, false) }
      return continueFamiliar(user, step)
    },

    /**
     * The one-time code after a password that was right.
     * @returns undefined when this sign-in took too long or too many tries, or is another browser's
     * @throws DomainError `invalidCredentials` or `tooManyAttempts`
     */
    async giveOneTimeCode(signIn: string, code: string, step: Step): Promise<NextStep | undefined> {
      const pending = await findPending(signIn, step)
      if (!pending || pending.complete) return undefined
      if (!(await codes.takeTry(hashSecret(signIn), maxTries))) return undefined
      await passwordCheck.verifyCode(pending, code, step.client.id, step.source)
      if (!(await codes.deletePending(hashSecret(signIn)))) return undefined
      return continueFamiliar(pending, step)
    },

    /** The user who is asked for consent; undefined as above. */
    async findAsked(signIn: string, step: Step): Promise<{ email: string } | undefined> {
      const pending = await findPending(signIn, step)
      return pending?.complete ? { email: pending.email } : undefined
    },

    /** The answer to that question, and where to go with it; undefined as above. */
    async decide(signIn: string, allowed: boolean, step: Step): Promise<string | undefined> {
      const pending = await findPending(signIn, step)
      if (!pending?.complete) return undefined
      const { client, request, source } = step
      return relational.transaction(async (tx) => {
        const inside = createCodeStore(tx)
        if (!(await inside.deletePending(hashSecret(signIn)))) return undefined
        const caller = { principal: pending, address: source.address }
        const target = { kind: 'client', id: client.id, name: client.name }
        await recordAudit(tx, auditEventOf(caller, 'application-consent', target, { allowed }))
        if (!allowed) {
          const error_description = 'The user has refused access'
          return buildRedirect(request, { error: 'access_denied', error_description }, publicUrl())
        }
        await inside.insertConsent(pending.userId, client.id)
        return issueCode(tx, pending, step)
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
      const user = { userId, method: 'sso', passwordHash: null } as const
      return keepPending(user, { client: { id: clientId }, browser }, true, keptSeconds)
    },

    /** Takes such a sign-in for the one request; undefined when there is none for this browser and application. */
    async resume(signIn: string, step: Step): Promise<NextStep | undefined> {
      const pending = await findPending(signIn, step)
      if (!pending?.complete || pending.method !== 'sso') return undefined
      return (await codes.deletePending(hashSecret(signIn))) ? continueSignIn(pending, step) : undefined
    },

    /**
     * Continues after single sign-on.
     * @returns the address to go to, in the end the application's with a code
     * @throws DomainError `invalidClient` when the client is gone or closed since the sign-in began
     */
    async finishSingleSignOn({ request, browser, address, ...known }: FinishedSingleSignOn): Promise<string> {
      const client = await tokens.findClient(request.clientId)
      if (!client || !isRegisteredRedirect(client.redirectUris, request.redirectUri))
        throw new DomainError('invalidClient')
      const source = { address, cookieToken: undefined, device: undefined }
      const step = { client, request, browser, source }
      const next = await continueSignIn({ ...known, passwordHash: null }, step)
      if (next.kind === 'done') return next.location
      const parameters = toParameters(request)
      parameters.set('sign_in', next.signIn)
      return `${publicUrl()}/v2/oauth/consent?${parameters}`
    },
  }
}
