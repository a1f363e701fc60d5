import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { AuditEvent, RecordAudit } from '../../platform/audit.ts'
import type { Clock } from '../../platform/clock.ts'
import { hashSecret, isSecret, newSecret, type RandomBytes } from '../../platform/crypto/secrets.ts'
import { DomainError } from '../../platform/errors.ts'
import { isId, normalizeId } from '../../platform/ids.ts'
import type { Language } from '../../platform/mail/letter.ts'
import type { Queries, Relational } from '../../platform/stores/relational.ts'
import type { UserLifecycle } from '../accounts/user-lifecycle.ts'
import type { AuthorizationRequest } from '../auth/authorization-request.ts'
import type { FinishedSingleSignOn } from '../auth/sign-in-service.ts'
import { admitPerson } from './admission.ts'
import { verifyResponse } from './assertion-verifier.ts'
import type { CertificateService } from './certificate-service.ts'
import { createConfigStore } from './config-store.ts'
import { createDomainStore } from './domain-store.ts'
import { type RefusalReason, SamlRefusal } from './saml-refusal.ts'
import type { SamlSignInStore, StoredResult } from './saml-sign-in-store.ts'
import { buildMetadata, buildSignInUrl, serviceProviderOf } from './service-provider.ts'

export interface SamlSignInServiceDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  /** Sign-ins under way, over `db` or a transaction. */
  readonly signIns: (queries: Queries) => SamlSignInStore
  readonly lifecycle: Pick<UserLifecycle, 'transact' | 'create' | 'admit' | 'endSessions'>
  readonly certificates: Pick<CertificateService, 'findSigning'>
  readonly recordAudit: RecordAudit
  readonly clock: Clock
  readonly origin: () => string
  /** @throws DomainError when the client or its redirect_uri is not known */
  readonly readAuthorizationRequest: (
    query: Readonly<Record<string, string>>,
  ) => Promise<AuthorizationRequest>
  /** The address of the next step, in the end `redirect_uri` with a code. */
  readonly finishSignIn: (finished: FinishedSingleSignOn) => Promise<string>
  /** Counts what became of a sign-in. */
  readonly onOutcome: (outcome: RefusalReason | 'accepted') => void
  readonly random?: RandomBytes
}

/** Where a request comes from, and the name under which its failure is found in the audit log. */
export interface Visit {
  readonly address: string
  readonly reference: string
}

/** With what names the browser for the steps that follow. */
export interface FinishingVisit extends Visit {
  readonly browser: string
}

export interface StartedSignIn {
  readonly language: Language
  /** Of the identity provider, with the signed request. */
  readonly url: string
  readonly requestId: string
  /** For this browser's cookie. */
  readonly browserSecret: string
}

/** Whom a verified response was about, for the audit log. */
type Said = Pick<StoredResult, 'idpEntityId' | 'nameId'>

/** Long enough for a password and a second factor at the identity provider. */
export const requestSeconds = 600
const resultSeconds = 120
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
  const { relational, signIns, lifecycle, certificates, recordAudit, clock, origin } = dependencies
  const { onOutcome, random = randomBytes } = dependencies
  const configs = createConfigStore(relational.db)
  const store = signIns(relational.db)

  /** By exactly one of domain and company. */
  async function findCompany(domain: string | undefined, company: string | undefined) {
    if ((domain === undefined) === (company === undefined)) {
      const fault = { path: 'domain', message: 'or company is required, and not both' }
      throw new DomainError('validation', { errors: [fault] }, { message: `${fault.path} ${fault.message}` })
    }
    if (company !== undefined) return isId(company) ? normalizeId(company) : undefined
    return (await createDomainStore(relational.db).findSingleSignOn(domain?.toLowerCase() ?? ''))?.companyId
  }

  /** Says why in the audit log and the metrics, and nothing of it to the person. */
  async function refuse(
    companyId: string,
    refusal: SamlRefusal,
    visit: Visit,
    said: Said | undefined,
  ): Promise<never> {
    onOutcome(refusal.reason)
    const isCompany = isId(companyId) && (await configs.companyExists(companyId))
    const event: AuditEvent = {
      companyId: isCompany ? companyId : undefined,
      action: 'sso-sign-in',
      actor: said ? { kind: 'identity-provider', name: said.idpEntityId } : { kind: 'anonymous' },
      ...(said ? { target: { kind: 'user', name: said.nameId } } : {}),
      error: 'singleSignOnRefused',
      details: { reason: refusal.reason, reference: visit.reference },
      address: visit.address,
    }
    await recordAudit(relational.db, event)
    throw new DomainError('singleSignOnRefused', { reference: visit.reference }, { cause: refusal })
  }

  async function refusing<T>(
    companyId: string,
    visit: Visit,
    work: () => Promise<T>,
    said?: Said,
  ): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof SamlRefusal) return refuse(companyId, error, visit, said)
      throw error
    }
  }

  async function requireConfig(companyId: string) {
    const config = isId(companyId) ? await configs.find(companyId) : undefined
    if (!config) throw new SamlRefusal('no-configuration')
    return config
  }

  /** Takes the response's request and keeps what it says, all or nothing. @returns the secret of the result */
  async function take(companyId: string, message: string): Promise<string> {
    const config = await requireConfig(companyId)
    const { entityId, acsUrl } = serviceProviderOf(origin(), companyId)
    const assertion = verifyResponse(message, {
      issuer: config.idpEntityId,
      certificates: config.idpCertificates,
      audience: entityId,
      acsUrl,
      now: clock.now(),
    })
    const { idpEntityId } = config
    const secret = newSecret(random)
    await relational.transaction(async (tx) => {
      const held = signIns(tx)
      const { assertionId } = assertion
      const expiresAt = new Date(assertion.end + skewMs)
      if (!(await held.insertAssertion({ companyId, idpEntityId, assertionId, expiresAt })))
        throw new SamlRefusal('replayed')
      const request = await held.takeRequest(companyId, assertion.inResponseTo)
      if (typeof request === 'string') throw new SamlRefusal(reasonOfRequest[request])
      if (request.configVersion !== config.version) throw new SamlRefusal('configuration-changed')
      await held.insertResult(
        {
          secretHash: hashSecret(secret),
          companyId,
          requestId: assertion.inResponseTo,
          idpEntityId,
          nameId: assertion.nameId,
          attributes: Object.fromEntries(
            [...assertion.attributes].map(([name, values]) => [name, [...values]]),
          ),
        },
        resultSeconds,
      )
    })
    return secret
  }

  /** What the browser comes for, when it is the one that was sent away. */
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

  async function admit(companyId: string, taken: Awaited<ReturnType<typeof takeResult>>, visit: Visit) {
    return lifecycle.transact(async (tx) => {
      const held = createConfigStore(tx)
      // Nobody changes or deletes the configuration until this person is in.
      await held.holdCompany(companyId)
      const config = await held.find(companyId)
      if (config?.version !== taken.request.configVersion) throw new SamlRefusal('configuration-changed')
      const admitted = await admitPerson(tx, { lifecycle }, config, taken.result, visit.address)
      await held.prove(companyId, config.version)
      const { user, isNew, isLinked } = admitted
      const person = { kind: 'user', id: user.id, name: user.email } as const
      await recordAudit(tx, {
        companyId,
        action: 'sso-sign-in',
        actor: person,
        target: person,
        details: { identityProvider: config.idpEntityId, isNew, isLinked },
        address: visit.address,
      })
      return { user, version: config.version }
    })
  }

  return {
    /**
     * Begins a sign-in for one browser.
     * @param query of the request; all but `domain` and `company` is the authorization request
     * @throws DomainError `singleSignOnNotOffered`, or what the authorization request is refused with
     */
    async start(query: Readonly<Record<string, string>>): Promise<StartedSignIn> {
      const { domain, company, ...rest } = query
      const companyId = await findCompany(domain, company)
      const request = await dependencies.readAuthorizationRequest(rest)
      const config = companyId === undefined ? undefined : await configs.find(companyId)
      if (!config) throw new DomainError('singleSignOnNotOffered')
      const signing = await certificates.findSigning(config.companyId)
      if (!signing) {
        const message = 'Our certificate has ended: an administrator of your company must make another one'
        throw new DomainError('unavailable', {}, { message })
      }
      const requestId = `_${random(20).toString('hex')}`
      const browserSecret = newSecret(random)
      const url = await buildSignInUrl({
        requestId,
        provider: serviceProviderOf(origin(), config.companyId),
        identityProvider: { signInUrl: config.idpSignInUrl, certificates: config.idpCertificates },
        privateKey: signing.privateKey,
      })
      const { version: configVersion } = config
      const browserHash = hashSecret(browserSecret)
      await store.insertRequest(
        { id: requestId, companyId: config.companyId, configVersion, browserHash, request },
        requestSeconds,
      )
      await store.sweep()
      return { language: request.language, url, requestId, browserSecret }
    },

    /** Our metadata for a company. @throws DomainError `singleSignOnNotOffered` */
    async readMetadata(givenId: string): Promise<string> {
      const companyId = normalizeId(givenId)
      const signing = isId(companyId) ? await certificates.findSigning(companyId) : undefined
      if (!signing) throw new DomainError('singleSignOnNotOffered')
      return buildMetadata(serviceProviderOf(origin(), companyId), signing)
    },

    /**
     * Takes a response that a browser posted.
     * @param message the field `SAMLResponse`
     * @returns where the same browser finishes the sign-in
     * @throws DomainError `singleSignOnRefused`
     */
    async consume(givenId: string, message: string, visit: Visit): Promise<string> {
      const companyId = normalizeId(givenId)
      const secret = await refusing(companyId, visit, () => take(companyId, message))
      return `${serviceProviderOf(origin(), companyId).finishUrl}?result=${secret}`
    },

    /**
     * Lets the person of a taken response in, in the browser that the sign-in began in.
     * @returns the address of the next step, and which request has come to its end
     * @throws DomainError `singleSignOnRefused`
     */
    async finish(
      givenId: string,
      secret: string,
      browserSecretOf: BrowserSecretOf,
      visit: FinishingVisit,
    ): Promise<{ location: string; requestId: string }> {
      const companyId = normalizeId(givenId)
      const taken = await refusing(companyId, visit, () => takeResult(companyId, secret, browserSecretOf))
      const { id: requestId, request } = taken.request
      const letIn = async () => {
        const { user, version } = await admit(companyId, taken, visit)
        const { address, browser } = visit
        const { id: userId, email } = user
        const finished = { userId, companyId, email, request, method: 'sso', address, browser } as const
        const location = await dependencies.finishSignIn(finished)
        // A configuration that was changed or deleted in between has ended what it gave; this is given after that.
        if ((await configs.find(companyId))?.version !== version) {
          await relational.transaction((tx) => lifecycle.endSessions(tx, user.id))
          throw new SamlRefusal('configuration-changed')
        }
        onOutcome('accepted')
        return { location, requestId }
      }
      return refusing(companyId, visit, letIn, taken.result)
    },
  }
}

/** The secret that a browser keeps for a request, if it has it. */
export type BrowserSecretOf = (requestId: string) => string | undefined
