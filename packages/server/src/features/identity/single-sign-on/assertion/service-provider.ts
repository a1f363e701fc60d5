/** Our addresses for one company, below the public address of the service. */
export interface ServiceProvider {
  /** Our entity id, which is where our metadata is; the audience of assertions. */
  readonly entityId: string
  readonly acsUrl: string
  readonly finishUrl: string
}

/** @param publicUrl public address of the service, without a path; never from a request */
export function serviceProviderOf(publicUrl: string, companyId: string): ServiceProvider {
  const base = `${publicUrl}/v2/sso/saml/${companyId}`
  return { entityId: `${base}/metadata`, acsUrl: `${base}/acs`, finishUrl: `${base}/finish` }
}

/** Loaded by the first call: only companies with single sign-on need its 90 modules. */
const library = () => import('@node-saml/node-saml')

/** Leaves the choice to the identity provider; only a transient name is of no use (it changes each time). */
const nameIdFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'

export interface SignedRequest {
  readonly requestId: string
  readonly provider: ServiceProvider
  readonly identityProvider: { readonly signInUrl: string; readonly certificates: readonly string[] }
  /** In PEM. */
  readonly privateKey: string
}

/**
 * Where a browser goes to sign in: the identity provider's address with a signed request (HTTP-Redirect binding,
 * RSA-SHA256). There is no RelayState: everything is kept here under the request's id.
 */
export async function buildSignInUrl(wanted: SignedRequest): Promise<string> {
  const { requestId, provider, identityProvider, privateKey } = wanted
  const { SAML, ValidateInResponseTo } = await library()
  const saml = new SAML({
    issuer: provider.entityId,
    callbackUrl: provider.acsUrl,
    entryPoint: identityProvider.signInUrl,
    idpCert: [...identityProvider.certificates],
    privateKey,
    signatureAlgorithm: 'sha256',
    identifierFormat: nameIdFormat,
    disableRequestedAuthnContext: true,
    generateUniqueId: () => requestId,
    // Which request a response answers is decided by our own store, not by the library's memory.
    validateInResponseTo: ValidateInResponseTo.never,
  })
  return saml.getAuthorizeUrlAsync('', undefined, {})
}

/** SAML 2.0 metadata with every certificate that may sign our requests. */
export async function buildMetadata(
  provider: ServiceProvider,
  signing: { readonly privateKey: string; readonly certificates: readonly string[] },
): Promise<string> {
  const { generateServiceProviderMetadata } = await library()
  return generateServiceProviderMetadata({
    issuer: provider.entityId,
    callbackUrl: provider.acsUrl,
    identifierFormat: nameIdFormat,
    wantAssertionsSigned: true,
    privateKey: signing.privateKey,
    publicCerts: [...signing.certificates],
    // The same text each time, so that a watcher sees real changes only.
    generateUniqueId: () => '_metadata',
  })
}
