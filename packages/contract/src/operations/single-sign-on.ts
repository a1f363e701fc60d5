import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { idParams, strict } from '../resources/formats.ts'
import {
  SsoCertificate,
  SsoConfig,
  SsoConfigReplacement,
  SsoConfigUpdate,
  SsoDomain,
  SsoDomainCreation,
} from '../resources/sso-config.ts'

const url = '/v2/entities/sso/config'
const tag = 'Single sign-on'
const read = { scope: 'authenticated', permission: { resource: 'company', action: 'read' }, tag } as const
const change = { scope: 'authenticated', permission: { resource: 'company', action: 'update' }, tag } as const

/** Operation 16. */
export const deleteSingleSignOn = {
  id: 'deleteSingleSignOn',
  number: 16,
  method: 'DELETE',
  url,
  ...change,
  summary: 'Delete the single sign-on configuration',
  description: `Users of the company sign in with a password again; those who have none get a reset mail.

Its domains, certificates and links to the identity provider are deleted along with it, and sessions that began through single sign-on end. It is possible while single sign-on is required, too: that ends with it.`,
  audit: { action: 'sso-config-delete', target: 'sso-config', of: 'company' },
  errors: ['singleSignOnNotFound'],
  replies: { 200: { description: 'It is deleted' } },
  schema: { response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const readSingleSignOn = {
  id: 'readSingleSignOn',
  extension: true,
  method: 'GET',
  url,
  ...read,
  summary: 'Read the single sign-on configuration',
  errors: ['singleSignOnNotFound'],
  replies: { 200: { description: 'The configuration' } },
  schema: { response: { 200: successEnvelope(SsoConfig) } },
} as const satisfies Operation

const saveErrors = [
  'unusableMetadata',
  'singleSignOnNotProven',
  'lastAdministrator',
  'unknownRole',
  'roleAboveOwn',
  'unknownTeam',
  'notInTeam',
  'provisionedTeam',
] as const

const saveNote =
  'Metadata is validated before anything is saved. When the mapping changes, or `entityID` or the sign-in address of the identity provider, single sign-on is no longer required and must be proven again by a sign-in; another provider also ends the sessions that began through it. Other certificates of the same provider leave the requirement as it is; to take away one that is still valid ends the sessions that began through single sign-on, except the one of the request. Metadata given by its address is read again each day: new certificates are taken beside the old ones. Setting `mandatory` ends the password sessions of the verified domains, except those of service accounts; it is refused unless an administrator can still come in, because of an address outside the domains or a sign-in through the provider. Administrators get a mail about these changes.'

const saveAccess =
  'Company: update, and every permission of the role in `defaultRoleId`; for metadata, mapping, `allowIdpInitiated` with its destination and requiring it every permission that a user of the company has'

export const replaceSingleSignOn = {
  id: 'replaceSingleSignOn',
  extension: true,
  method: 'PUT',
  url,
  ...change,
  access: saveAccess,
  summary: 'Set up single sign-on',
  description: `Saves the whole configuration, with \`idpMetadataXml\` or \`idpMetadataUrl\`. The first time it also makes the certificate that our requests are signed with.

${saveNote}`,
  audit: { action: 'sso-config-update', target: 'sso-config', of: 'company' },
  errors: saveErrors,
  examples: {
    url: {
      summary: 'By the address of the metadata',
      value: {
        idpMetadataUrl: 'https://idp.example.com/metadata',
        attributeMapping: { email: 'attributes.email', firstName: 'attributes.firstName' },
        provisioning: 'create',
        defaultRoleId: '65f0c0ffee5ca1ab1e0ddba1',
        defaultTeamIds: ['65f0c0ffee5ca1ab1e0ddba2'],
      },
    },
  },
  replies: { 200: { description: 'The configuration as it is now' } },
  schema: { body: SsoConfigReplacement, response: { 200: successEnvelope(SsoConfig) } },
} as const satisfies Operation

export const updateSingleSignOn = {
  id: 'updateSingleSignOn',
  extension: true,
  method: 'PATCH',
  url,
  ...change,
  access: saveAccess,
  summary: 'Change the single sign-on configuration',
  description: `A partial update: a field that is absent stays as it is.

${saveNote}`,
  audit: { action: 'sso-config-update', target: 'sso-config', of: 'company' },
  errors: ['singleSignOnNotFound', ...saveErrors],
  examples: { mandatory: { summary: 'Require single sign-on', value: { mandatory: true } } },
  replies: { 200: { description: 'The configuration as it is now' } },
  schema: { body: SsoConfigUpdate, response: { 200: successEnvelope(SsoConfig) } },
} as const satisfies Operation

const domainId = idParams('Identifier of the domain')

export const listSingleSignOnDomains = {
  id: 'listSingleSignOnDomains',
  extension: true,
  method: 'GET',
  url: '/v2/entities/sso/domains',
  ...read,
  summary: 'List the domains of single sign-on',
  description: 'All domains of the company, by name, with the DNS record that verifies each.',
  errors: [],
  replies: { 200: { description: 'The domains' } },
  schema: { response: { 200: successEnvelope(Type.Array(SsoDomain)) } },
} as const satisfies Operation

export const addSingleSignOnDomain = {
  id: 'addSingleSignOnDomain',
  extension: true,
  method: 'POST',
  url: '/v2/entities/sso/domains',
  ...change,
  summary: 'Claim a domain for single sign-on',
  description:
    'Answers the DNS record that shows the domain is yours. Nothing changes for any user until it is verified. A domain that another company has verified, and public mail services, are refused.',
  audit: { action: 'sso-domain-add', target: 'sso-domain', named: 'domain' },
  errors: ['domainTaken', 'tooManyDomains'],
  examples: { domain: { summary: 'A domain', value: { domain: 'example.com' } } },
  replies: { 200: { description: 'The domain' } },
  schema: { body: SsoDomainCreation, response: { 200: successEnvelope(SsoDomain) } },
} as const satisfies Operation

export const verifySingleSignOnDomain = {
  id: 'verifySingleSignOnDomain',
  extension: true,
  method: 'POST',
  url: '/v2/entities/sso/domains/:id/verify',
  ...change,
  summary: 'Verify a domain',
  description:
    'Looks for the DNS record (TXT) of the domain now. A newly verified domain asks for a new proof before single sign-on can be required.',
  audit: { action: 'sso-domain-verify', target: 'sso-domain' },
  errors: ['domainNotFound', 'domainTaken', 'domainNotVerified'],
  replies: { 200: { description: 'The domain, verified' } },
  schema: { params: domainId, response: { 200: successEnvelope(SsoDomain) } },
} as const satisfies Operation

export const removeSingleSignOnDomain = {
  id: 'removeSingleSignOnDomain',
  extension: true,
  method: 'DELETE',
  url: '/v2/entities/sso/domains/:id',
  ...change,
  summary: 'Remove a domain',
  description:
    'Users of the domain sign in by password again. After a verified one is removed, single sign-on is no longer required until it is proven again.',
  audit: { action: 'sso-domain-remove', target: 'sso-domain' },
  errors: ['domainNotFound'],
  replies: { 200: { description: 'It is removed' } },
  schema: { params: domainId, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const listSingleSignOnCertificates = {
  id: 'listSingleSignOnCertificates',
  extension: true,
  method: 'GET',
  url: '/v2/entities/sso/certificates',
  ...read,
  summary: 'List the certificates that sign our requests',
  errors: [],
  replies: { 200: { description: 'The certificates, the oldest first' } },
  schema: { response: { 200: successEnvelope(Type.Array(SsoCertificate)) } },
} as const satisfies Operation

export const rotateSingleSignOnCertificate = {
  id: 'rotateSingleSignOnCertificate',
  extension: true,
  method: 'POST',
  url: '/v2/entities/sso/certificates',
  ...change,
  summary: 'Make a new certificate',
  description: `Makes a new key with a certificate, valid for three years. Both are in our metadata from now on, and the older one remains the signing certificate: declare the new one at the identity provider, then retire the older one. So no user is locked out in between.

It works before there is a configuration, too, so that our metadata can be given to the identity provider first.`,
  audit: { action: 'sso-certificate-rotate', target: 'sso-certificate' },
  errors: ['tooManyCertificates'],
  replies: { 200: { description: 'The new certificate' } },
  schema: { response: { 200: successEnvelope(SsoCertificate) } },
} as const satisfies Operation

export const retireSingleSignOnCertificate = {
  id: 'retireSingleSignOnCertificate',
  extension: true,
  method: 'DELETE',
  url: '/v2/entities/sso/certificates/:id',
  ...change,
  summary: 'Retire a certificate',
  description: 'Deletes its key at once; the other certificate signs from now on.',
  audit: { action: 'sso-certificate-retire', target: 'sso-certificate' },
  errors: ['certificateNotFound', 'certificateInUse'],
  replies: { 200: { description: 'It is retired' } },
  schema: {
    params: idParams('Identifier of the certificate'),
    response: { 200: successEnvelope(EmptyObject) },
  },
} as const satisfies Operation

const companyId = Type.Object({ companyId: Type.String({ description: 'The company' }) }, strict)
const page = Type.String({ contentMediaType: 'text/html' })
const text = (description: string, maxLength: number) =>
  Type.Optional(Type.String({ maxLength, description }))

/** The way of a browser; its failures are pages for a browser and the fail envelope for others. */
export const startSingleSignOn = {
  id: 'startSingleSignOn',
  extension: true,
  method: 'GET',
  url: '/v2/sso/saml/login',
  scope: 'open',
  tag,
  summary: 'Begin a sign-in through single sign-on',
  description:
    'For browsers: a page that forwards the browser to the identity provider of the domain or company with a signed request. The other parameters are those of `GET /v2/oauth/authorize`; the sign-in ends at its `redirect_uri` with a code. Without any of them (but `lang`) it is a trial: the whole sign-in, with all that a first one proves and makes, which ends at a page that names the matched user and starts no session.',
  errors: [
    'singleSignOnNotOffered',
    'invalidClient',
    'invalidRedirectUri',
    'tooManySamlResponses',
    'forbidden',
    'unavailable',
  ],
  replies: { 200: { description: 'A page that forwards the browser to the identity provider' } },
  schema: {
    querystring: Type.Object(
      {
        domain: text('Domain of the e-mail address; or `company`', 253),
        company: text('Identifier of the company; or `domain`', 24),
        client_id: text('Application that the user signs in to', 128),
        redirect_uri: text('Where the browser is redirected in the end; registered for the client', 2_048),
        response_type: text('`code`', 32),
        state: text('Given back untouched', 2_048),
        code_challenge: text('RFC 7636: base64url of the SHA-256 of the verifier', 128),
        code_challenge_method: text('`S256`', 32),
        lang: text('Language of the pages', 35),
      },
      strict,
    ),
    response: { 200: page },
  },
} as const satisfies Operation

export const readServiceProviderMetadata = {
  id: 'readServiceProviderMetadata',
  extension: true,
  method: 'GET',
  url: '/v2/sso/saml/:companyId/metadata',
  scope: 'open',
  tag,
  summary: 'Read our metadata for an identity provider',
  description:
    'The SAML 2.0 metadata of this service for one company, with every valid signing certificate. Its address is our entity id.',
  errors: ['singleSignOnNotOffered'],
  replies: { 200: { description: 'The metadata' } },
  schema: {
    params: companyId,
    response: { 200: Type.String({ contentMediaType: 'application/samlmetadata+xml' }) },
  },
} as const satisfies Operation

const AcsForm = Type.Object(
  {
    SAMLResponse: Type.String({ description: 'The response in base64' }),
    RelayState: Type.Optional(Type.String({ description: 'Ignored' })),
  },
  { ...strict, title: 'AcsForm' },
)

export const consumeSamlResponse = {
  id: 'consumeSamlResponse',
  extension: true,
  method: 'POST',
  url: '/v2/sso/saml/:companyId/acs',
  scope: 'open',
  tag,
  summary: 'Accept a response of the identity provider',
  description: `Where the identity provider has the browser post its response (HTTP-POST binding). The assertion must be signed by a configured certificate, not encrypted, meant for us and now, and answer a request that the same browser was sent with. Sign-ins that began at the identity provider are refused unless the company has set \`allowIdpInitiated\`: then they are accepted within two minutes after the assertion was made, once, and lead to the one address that the company has set. RelayState is ignored.

Why a response was refused is in the audit log under the reference of the answer.`,
  errors: ['missingSamlResponse', 'singleSignOnRefused', 'tooManySamlResponses', 'forbidden'],
  consumes: ['application/x-www-form-urlencoded'],
  described: { body: AcsForm },
  examples: { response: { summary: 'A response', value: { SAMLResponse: 'PHNhbWxwOlJlc3BvbnNlLz4=' } } },
  replies: {
    303: {
      description: 'It was accepted',
      headers: { Location: 'Where the same browser finishes the sign-in' },
    },
  },
  schema: { params: companyId, response: { 303: Type.Null() } },
} as const satisfies Operation

export const finishSingleSignOn = {
  id: 'finishSingleSignOn',
  extension: true,
  method: 'GET',
  url: '/v2/sso/saml/:companyId/finish',
  scope: 'open',
  tag,
  summary: 'Finish a sign-in through single sign-on',
  description: 'Where the browser is sent after its response was accepted; works once, within two minutes.',
  errors: ['singleSignOnRefused', 'tooManySamlResponses', 'invalidClient', 'forbidden', 'unavailable'],
  replies: {
    200: {
      description:
        'The end of a trial: a page that names the matched user; or, for a sign-in that began at the identity provider, a form that asks whether to continue as that user',
    },
    303: {
      description: 'The user is signed in',
      headers: { Location: 'The next step of the sign-in, in the end `redirect_uri` with a code' },
    },
  },
  schema: {
    params: companyId,
    querystring: Type.Object({ result: text('Which response', 128) }, strict),
    response: { 200: page, 303: Type.Null() },
  },
} as const satisfies Operation

const ConfirmationForm = Type.Object(
  {
    result: Type.String({ description: 'Which response' }),
    form_token: Type.String({ description: 'What the page of the question holds for this browser' }),
  },
  { ...strict, title: 'ConfirmationForm' },
)

export const confirmSingleSignOn = {
  id: 'confirmSingleSignOn',
  extension: true,
  method: 'POST',
  url: '/v2/sso/saml/:companyId/confirm',
  scope: 'open',
  tag,
  summary: 'Confirm a sign-in that began at the identity provider',
  description:
    'The form of the question that such a sign-in ends with, sent by the browser that was asked; works once, within two minutes. The page that it answers leads to `idpInitiatedUrl` with `iss`, this service’s address (OpenID Connect Core 4). The next `GET /v2/oauth/authorize` of that browser for that application, within two minutes, needs no other sign-in.',
  errors: ['singleSignOnRefused', 'tooManySamlResponses', 'invalidClient', 'forbidden'],
  consumes: ['application/x-www-form-urlencoded'],
  described: { body: ConfirmationForm },
  examples: {
    confirmation: {
      summary: 'A confirmation',
      value: {
        result: 'Vd7p0m9S3m0c1Yw6u0F8Vd7p0m9S3m0c1Yw6u0F8Vd7',
        form_token: 'kV2n5xJ0b8QmXg1r3sT4uW6yZaCdEfHiKlMnOpQrStU',
      },
    },
  },
  replies: { 200: { description: 'A page that leads to the application' } },
  schema: { params: companyId, response: { 200: page } },
} as const satisfies Operation
