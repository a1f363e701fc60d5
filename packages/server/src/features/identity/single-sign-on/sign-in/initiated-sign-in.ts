import type { AttributeMapping } from '@millrace/contract/resources/sso-config.ts'
import type { RandomBytes } from '../../../../platform/crypto/secrets.ts'
import { hashSecret, newSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { networkOf } from '../../../../platform/network-address.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { readClaims } from '../assertion/assertion-claims.ts'
import { SamlRefusal } from '../assertion/saml-refusal.ts'
import type { StoredConfig } from '../config/config-store.ts'
import { type DestinationClient, type FindClient, isOfClient } from './idp-initiated-destination.ts'
import { createSamlSignInStore, type InitiatedRequest, type StoredResult } from './saml-sign-in-store.ts'

/** A sign-in of single sign-on that waits for its application to ask for one. */
export interface KeptSingleSignOn {
  readonly userId: string
  readonly clientId: string
  /** Names the browser. */
  readonly browser: string
}

export interface InitiatedSignInDependencies extends Pick<IdentityContext, 'publicUrl'> {
  readonly random: RandomBytes
  /** Keeps it for the browser's next request to sign in to the application. @returns its secret */
  readonly keepSignIn: (kept: KeptSingleSignOn) => Promise<string>
  readonly findClient: FindClient
}

/** From the response to the confirmation, and from there to the application. */
export const initiatedSeconds = 120

/** What the browser is asked before anything begins: whether to continue as this user. */
export interface Question {
  readonly secret: string
  readonly email: string
  readonly clientName: string
}

/** The steps of a sign-in that began at the identity provider, beside those that every sign-in takes. */
export function createInitiatedSignIn(dependencies: InitiatedSignInDependencies) {
  const { keepSignIn, findClient, publicUrl, random } = dependencies

  /** @throws DomainError `invalidClient` when the application is gone, or the address is no longer its own */
  async function getClient({ clientId, url }: InitiatedRequest): Promise<DestinationClient> {
    const client = await findClient(clientId)
    if (!client || !isOfClient(url, client)) throw new DomainError('invalidClient')
    return client
  }

  return {
    /**
     * Stores the missing request as already answered, so that what follows is bound to the browser that brought the
     * response.
     */
    async begin(
      tx: Queries,
      config: StoredConfig,
      from: { readonly address: string; readonly language: Language },
    ): Promise<{ requestId: string; browserSecret: string }> {
      const { companyId, version: configVersion, idpInitiatedClientId, idpInitiatedUrl } = config
      if (!idpInitiatedClientId || !idpInitiatedUrl) throw new SamlRefusal('unsolicited')
      const requestId = `_${random(20).toString('hex')}`
      const browserSecret = newSecret(random)
      const held = createSamlSignInStore(tx)
      await held.sweep()
      const request: InitiatedRequest = {
        initiated: true,
        language: from.language,
        clientId: idpInitiatedClientId,
        url: idpInitiatedUrl,
      }
      const browserHash = hashSecret(browserSecret)
      // It is answered at once, and so never counts among those under way of a browser.
      const began = { network: networkOf(from.address), browserNameHash: browserHash, browserKnown: false }
      await held.insertRequest(
        { id: requestId, companyId, configVersion, browserHash, request, ...began },
        initiatedSeconds,
      )
      await held.takeRequest(companyId, requestId)
      return { requestId, browserSecret }
    },

    /** Keeps the content of the response until the user has confirmed it. */
    async ask(
      queries: Queries,
      config: StoredConfig | undefined,
      request: InitiatedRequest,
      result: Omit<StoredResult, 'secretHash'>,
    ): Promise<Question> {
      if (!config) throw new SamlRefusal('configuration-changed')
      const { email } = readClaims(result, config.attributeMapping as AttributeMapping)
      const { name: clientName } = await getClient(request)
      const secret = newSecret(random)
      await createSamlSignInStore(queries).insertResult(
        { ...result, secretHash: hashSecret(secret) },
        initiatedSeconds,
      )
      return { secret, email, clientName }
    },

    /** @returns where the application begins a sign-in (OpenID Connect Core 4), and what will be that sign-in */
    async land(
      request: InitiatedRequest,
      userId: string,
      browser: string,
    ): Promise<{ location: string; signIn: string }> {
      const { id: clientId } = await getClient(request)
      const signIn = await keepSignIn({ userId, clientId, browser })
      const location = new URL(request.url)
      location.searchParams.set('iss', publicUrl())
      return { location: location.href, signIn }
    },
  }
}
