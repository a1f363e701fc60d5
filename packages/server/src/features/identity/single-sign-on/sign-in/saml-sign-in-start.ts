import { randomBytes } from 'node:crypto'
import { hashSecret, newSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { pageFault } from '../../../../platform/http/form-faults.ts'
import { type Language, type LocalizedText, negotiateLanguage } from '../../../../platform/i18n/language.ts'
import { isId, normalizeId } from '../../../../platform/ids.ts'
import { networkOf } from '../../../../platform/network-address.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { AuthorizationRequest } from '../../sign-in/authorization-request.ts'
import { buildSignInUrl, serviceProviderOf } from '../assertion/service-provider.ts'
import type { CertificateService } from '../certificates/certificate-service.ts'
import { createConfigStore } from '../config/config-store.ts'
import { createDomainStore } from '../domains/domain-store.ts'
import type { SamlSignInStore, StoredRequest } from './saml-sign-in-store.ts'

const domainOrCompany = {
  en: 'or company is required, and not both',
  fr: 'ou company est obligatoire, et pas les deux',
} as const satisfies LocalizedText

export interface SamlStartDependencies extends Pick<IdentityContext, 'relational' | 'publicUrl' | 'random'> {
  readonly store: Pick<SamlSignInStore, 'insertRequest' | 'makeRoom' | 'sweep'>
  readonly certificates: Pick<CertificateService, 'findSigning'>
  /** @throws DomainError when the client or its redirect_uri is not known */
  readonly readAuthorizationRequest: (
    query: Readonly<Record<string, string>>,
    acceptLanguage: string | undefined,
  ) => Promise<AuthorizationRequest>
}

export interface StartedSignIn {
  readonly language: Language
  /** Of the identity provider, with the signed request. */
  readonly url: string
  readonly requestId: string
  /** For this browser's cookie. */
  readonly browserSecret: string
}

/** Where a sign-in begins. */
export interface Beginning {
  readonly address: string
  readonly acceptLanguage: string | undefined
  readonly browser: {
    readonly name: string
    /** Whether it had the name before, which a page of another site cannot make it show. */
    readonly isKnown: boolean
  }
}

/** Long enough for a password and a second factor at the identity provider. */
export const requestSeconds = 600
/**
 * Each sign-in under way leaves a row behind. Users of a whole office may be on their way at once, and what programs
 * begin there, or pages of other sites in browsers that do not say so, must not keep them from it.
 */
const maxOpen = { ofBrowser: 10, ofNetwork: 500 } as const

/** The first step of a sign-in: to the identity provider, with a request of ours. */
export function createSamlStart(dependencies: SamlStartDependencies) {
  const { relational, store, certificates, publicUrl, random = randomBytes } = dependencies
  const configs = createConfigStore(relational.db)

  /** With the parameters of an application it is a sign-in to that; with none of them a trial. */
  async function readRequest(
    parameters: Readonly<Record<string, string>>,
    acceptLanguage: string | undefined,
  ): Promise<StoredRequest['request']> {
    const { lang, ...ofApplication } = parameters
    if (Object.keys(ofApplication).length > 0)
      return dependencies.readAuthorizationRequest(parameters, acceptLanguage)
    return { trial: true, language: negotiateLanguage(lang, acceptLanguage) }
  }

  /** By exactly one of domain and company. */
  async function findCompany(domain: string | undefined, company: string | undefined) {
    if ((domain === undefined) === (company === undefined)) throw pageFault('domain', domainOrCompany)
    if (company !== undefined) return isId(company) ? normalizeId(company) : undefined
    return (await createDomainStore(relational.db).findSingleSignOn(domain?.toLowerCase() ?? ''))?.companyId
  }

  /**
   * Begins a sign-in for one browser.
   * @param query of the request; all but `domain` and `company` is the authorization request, and `lang` alone none
   * @throws DomainError `singleSignOnNotOffered`, or what the authorization request is refused with
   */
  return async (query: Readonly<Record<string, string>>, from: Beginning): Promise<StartedSignIn> => {
    const { domain, company, ...rest } = query
    const companyId = await findCompany(domain, company)
    const request = await readRequest(rest, from.acceptLanguage)
    const config = companyId === undefined ? undefined : await configs.find(companyId)
    if (!config) throw new DomainError('singleSignOnNotOffered')
    const signing = await certificates.findSigning(config.companyId)
    if (!signing) {
      const message = {
        en: 'Our certificate has ended: an administrator of your company must make another one',
        fr: 'Notre certificat a expiré : un administrateur de votre entreprise doit en créer un autre.',
      }
      throw new DomainError('unavailable', {}, { message })
    }
    await store.sweep()
    const network = networkOf(from.address)
    const requestId = `_${random(20).toString('hex')}`
    const browserSecret = newSecret(random)
    const url = await buildSignInUrl({
      requestId,
      provider: serviceProviderOf(publicUrl(), config.companyId),
      identityProvider: { signInUrl: config.idpSignInUrl, certificates: config.idpCertificates },
      privateKey: signing.privateKey,
    })
    const { version: configVersion } = config
    const browserHash = hashSecret(browserSecret)
    const { isKnown: browserKnown, name } = from.browser
    const browser = { browserNameHash: hashSecret(name), browserKnown, network }
    await store.makeRoom(browser, maxOpen)
    await store.insertRequest(
      { id: requestId, companyId: config.companyId, configVersion, browserHash, ...browser, request },
      requestSeconds,
    )
    return { language: request.language, url, requestId, browserSecret }
  }
}
