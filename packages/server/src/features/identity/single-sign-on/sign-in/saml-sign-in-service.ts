import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hashSecret, isSecret, newSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { isId, normalizeId } from '../../../../platform/ids.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { UserLifecycle } from '../../people/users/user-lifecycle.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { createSessionStore } from '../../sessions/session-store.ts'
import type { FinishedSingleSignOn } from '../../sign-in/sign-in-service.ts'
import { verifyResponse } from '../assertion/assertion-verifier.ts'
import { type RefusalReason, SamlRefusal } from '../assertion/saml-refusal.ts'
import { buildMetadata, serviceProviderOf } from '../assertion/service-provider.ts'
import { createConfigStore } from '../config/config-store.ts'
import {
  createInitiatedSignIn,
  type InitiatedSignInDependencies,
  initiatedSeconds,
  type Question,
} from './initiated-sign-in.ts'
import { provisionOrLinkUser } from './jit-provisioning.ts'
import { createRefusalRecord, type Visit } from './refusal-record.ts'
import { createSamlStart, type SamlStartDependencies } from './saml-sign-in-start.ts'
import { createSamlSignInStore } from './saml-sign-in-store.ts'

export interface SamlSignInServiceDependencies
  extends Omit<SamlStartDependencies, 'store'>,
    Pick<InitiatedSignInDependencies, 'keepSignIn' | 'findClient'>,
    IdentityContext {
  readonly lifecycle: Pick<UserLifecycle, 'transact' | 'create' | 'activateInvited' | 'endUnproven'>
  /** The address of the next step, in the end `redirect_uri` with a code. */
  readonly finishSignIn: (finished: FinishedSingleSignOn) => Promise<string>
  /** Counts what became of a sign-in. */
  readonly onOutcome: (outcome: RefusalReason | 'accepted') => void
}

/** With the language of a sign-in that did not begin here. */
export interface ResponseVisit extends Visit {
  readonly language: Language
}

/** With what names the browser for the steps that follow. */
export interface FinishingVisit extends Visit {
  readonly browser: string
  /** Whether the user has confirmed to be the one whom the response names. */
  readonly isConfirmed: boolean
}

/**
 * A completed sign-in: a redirect to the next step; in a trial the matched user; and a question first when the sign-in
 * began at the identity provider.
 */
export type FinishedSignIn = { readonly requestId: string; readonly language: Language } & (
  | { readonly location: string }
  | { readonly email: string }
  | { readonly question: Question }
  | { readonly landing: { readonly location: string; readonly signIn: string } }
)

/** A response that was taken. */
export interface TakenResponse {
  /** Where the same browser finishes the sign-in. */
  readonly location: string
  /** For this browser's cookie, when it has none of this sign-in. */
  readonly kept: { readonly requestId: string; readonly browserSecret: string } | undefined
}

const resultSeconds = initiatedSeconds
/** Clocks differ by a minute: a response must be known for that much longer. */
const skewMs = 60_000

const reasonOfRequest = {
  unknown: 'unknown-request',
  used: 'request-used',
  expired: 'request-expired',
} as const satisfies Record<string, RefusalReason>

export type SamlSignInService = ReturnType<typeof createSamlSignInService>

/** Sign-ins through the identity providers of companies, begun here only. */
export function createSamlSignInService(dependencies: SamlSignInServiceDependencies) {
  const { relational, lifecycle, certificates, recordAudit, clock, publicUrl } = dependencies
  const { onOutcome, random = randomBytes } = dependencies
  const configs = createConfigStore(relational.db)
  const store = createSamlSignInStore(relational.db)
  const { keepSignIn, findClient } = dependencies
  const initiated = createInitiatedSignIn({ keepSignIn, findClient, publicUrl, random })
  const refusing = createRefusalRecord({ relational, recordAudit, clock, store, onOutcome })

  async function requireConfig(companyId: string) {
    const config = isId(companyId) ? await configs.find(companyId) : undefined
    if (!config) throw new SamlRefusal('no-configuration')
    return config
  }

  /** Takes the response's request and keeps what it says, all or nothing. */
  async function take(companyId: string, message: string, from: ResponseVisit) {
    const config = await requireConfig(companyId)
    const { entityId, acsUrl } = serviceProviderOf(publicUrl(), companyId)
    const assertion = verifyResponse(message, {
      issuer: config.idpEntityId,
      certificates: config.idpCertificates,
      audience: entityId,
      acsUrl,
      allowUnsolicited: config.allowIdpInitiated,
      now: clock.now(),
    })
    const { idpEntityId } = config
    const { assertionId, inResponseTo, nameId, nameFormat } = assertion
    const secret = newSecret(random)
    const kept = await relational.transaction(async (tx) => {
      const held = createSamlSignInStore(tx)
      const expiresAt = new Date(assertion.end + skewMs)
      if (!(await held.insertAssertion({ companyId, idpEntityId, assertionId, expiresAt })))
        throw new SamlRefusal('replayed')
      const begun = inResponseTo === undefined ? await initiated.begin(tx, config, from) : undefined
      const requestId = begun?.requestId ?? inResponseTo ?? ''
      if (!begun) {
        const request = await held.takeRequest(companyId, requestId)
        if (typeof request === 'string') throw new SamlRefusal(reasonOfRequest[request])
        if (request.configVersion !== config.version) throw new SamlRefusal('configuration-changed')
      }
      const attributes = Object.fromEntries(
        [...assertion.attributes].map(([name, values]) => [name, [...values]]),
      )
      const secretHash = hashSecret(secret)
      await held.insertResult(
        { secretHash, companyId, requestId, idpEntityId, nameId, nameFormat, attributes },
        resultSeconds,
      )
      return begun
    })
    return { secret, kept }
  }

  /** The result, for the browser that began the sign-in. */
  async function takeResult(companyId: string, secret: string, browserSecretOf: BrowserSecretOf) {
    const taken =
      isId(companyId) && isSecret(secret) ? await store.takeResult(companyId, hashSecret(secret)) : undefined
    if (!taken) throw new SamlRefusal('unknown-result')
    const browserSecret = browserSecretOf(taken.request.id)
    const isSame =
      browserSecret !== undefined && timingSafeEqual(hashSecret(browserSecret), taken.request.browserHash)
    if (!isSame) throw new SamlRefusal('other-browser')
    return taken
  }

  async function resolveUser(companyId: string, taken: Awaited<ReturnType<typeof takeResult>>, visit: Visit) {
    return lifecycle.transact(async (tx) => {
      const held = createConfigStore(tx)
      // The configuration is neither changed nor deleted until this sign-in is complete.
      await createPeopleStore(tx).shareCompany(companyId)
      const config = await held.find(companyId)
      if (config?.version !== taken.request.configVersion) throw new SamlRefusal('configuration-changed')
      const matched = await provisionOrLinkUser(tx, { lifecycle }, config, taken.result, visit.address)
      await held.prove(companyId, config.version)
      const { user, isNew, isLinked, formerName, otherAddress } = matched
      const actor = { kind: 'user', id: user.id, name: user.email } as const
      await recordAudit(tx, {
        companyId,
        action: 'sso-sign-in',
        actor,
        target: actor,
        details: {
          identityProvider: config.idpEntityId,
          isNew,
          isLinked,
          ...(formerName !== undefined && { formerName }),
          ...(otherAddress !== undefined && { otherAddress }),
          isTrial: 'trial' in taken.request.request,
          isIdpInitiated: 'initiated' in taken.request.request,
        },
        address: visit.address,
      })
      return { user, version: config.version }
    })
  }

  return {
    publicUrl,
    start: createSamlStart({ ...dependencies, store }),

    /** Our metadata for a company. @throws DomainError `singleSignOnNotOffered` */
    async readMetadata(givenId: string): Promise<string> {
      const companyId = normalizeId(givenId)
      const signing = isId(companyId) ? await certificates.findSigning(companyId) : undefined
      if (!signing) throw new DomainError('singleSignOnNotOffered')
      return buildMetadata(serviceProviderOf(publicUrl(), companyId), signing)
    },

    /**
     * Takes a response that a browser posted.
     * @param message the field `SAMLResponse`
     * @throws DomainError `singleSignOnRefused`
     */
    async consume(givenId: string, message: string, visit: ResponseVisit): Promise<TakenResponse> {
      const companyId = normalizeId(givenId)
      const { secret, kept } = await refusing(companyId, visit, () => take(companyId, message, visit))
      return { location: `${serviceProviderOf(publicUrl(), companyId).finishUrl}?result=${secret}`, kept }
    },

    /**
     * Completes the sign-in of a taken response, in the browser that the sign-in began in; one that began at the
     * identity provider only once the user has confirmed it.
     * @throws DomainError `singleSignOnRefused`
     */
    async finish(
      givenId: string,
      secret: string,
      browserSecretOf: BrowserSecretOf,
      visit: FinishingVisit,
    ): Promise<FinishedSignIn> {
      const companyId = normalizeId(givenId)
      const taken = await refusing(companyId, visit, () => takeResult(companyId, secret, browserSecretOf))
      const { id: requestId, request } = taken.request
      const { language } = request
      const known = { subject: taken.result, language }
      if ('initiated' in request && !visit.isConfirmed) {
        const ask = async () =>
          initiated.ask(relational.db, await configs.find(companyId), request, taken.result)
        return { requestId, language, question: await refusing(companyId, visit, ask, known) }
      }
      const completeSignIn = async (): Promise<FinishedSignIn> => {
        const { user, version } = await resolveUser(companyId, taken, visit)
        const { address, browser } = visit
        const { id: userId, email } = user
        if ('trial' in request) return { requestId, language, email }
        const next =
          'initiated' in request
            ? { landing: await initiated.land(request, userId, browser) }
            : {
                location: await dependencies.finishSignIn({
                  userId,
                  companyId,
                  email,
                  request,
                  method: 'sso',
                  address,
                  browser,
                }),
              }
        // A configuration that was changed or deleted in between has ended what it gave; this is given after that.
        if ((await configs.find(companyId))?.version !== version) {
          await relational.transaction((tx) => createSessionStore(tx).endOfUser(user.id))
          throw new SamlRefusal('configuration-changed')
        }
        return { requestId, language, ...next }
      }
      const finished = await refusing(companyId, visit, completeSignIn, known)
      onOutcome('accepted')
      return finished
    },
  }
}

/** The secret that a browser keeps for a request, if it has it. */
export type BrowserSecretOf = (requestId: string) => string | undefined
