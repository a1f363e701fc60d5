import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf, succeeds } from '../operation-builders.ts'
import { idParams, named, object, text } from '../resources/formats.ts'
import {
  SsoCertificate,
  SsoConfig,
  SsoConfigReplacement,
  SsoConfigUpdate,
  SsoDomain,
  SsoDomainCreation,
} from '../resources/sso-config.ts'

const operation = operationsOf('Single sign-on')
const openOperation = operationsOf('Single sign-on', 'open')

const url = '/v2/entities/sso/config'

/** Operation 16. */
export const deleteSingleSignOn = {
  ...operation('deleteSingleSignOn', 'DELETE', url, 'company:update'),
  number: 16,
  summary: 'Delete the single sign-on configuration',
  description: `Users of the company sign in with a password again; those who have none get a reset mail.

Its domains, certificates and links to the identity provider are deleted along with it, and sessions that began through single sign-on end. It is possible while single sign-on is required, too: that ends with it.`,
  audit: { action: 'sso-config-delete', target: 'sso-config', of: 'company' },
  errors: ['singleSignOnNotFound'],
  ...succeeds('It is deleted'),
} as const satisfies Operation

export const readSingleSignOn = {
  ...operation('readSingleSignOn', 'GET', url, 'company:read'),
  summary: 'Read the single sign-on configuration',
  errors: ['singleSignOnNotFound'],
  ...answers('The configuration', SsoConfig),
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
  ...operation('replaceSingleSignOn', 'PUT', url, 'company:update'),
  access: saveAccess,
  summary: 'Set up single sign-on',
  description: `Saves the whole configuration, with \`idpMetadataXml\` or \`idpMetadataUrl\`. The first time it also makes the certificate that our requests are signed with.

${saveNote}`,
  audit: { action: 'sso-config-update', target: 'sso-config', of: 'company' },
  errors: saveErrors,
  examples: {
    url: example('By the address of the metadata', {
      idpMetadataUrl: 'https://idp.example.com/metadata',
      attributeMapping: { email: 'attributes.email', firstName: 'attributes.firstName' },
      provisioning: 'create',
      defaultRoleId: '65f0c0ffee5ca1ab1e0ddba1',
      defaultTeamIds: ['65f0c0ffee5ca1ab1e0ddba2'],
    }),
  },
  ...answers('The configuration as it is now', SsoConfig, { body: SsoConfigReplacement }),
} as const satisfies Operation

export const updateSingleSignOn = {
  ...operation('updateSingleSignOn', 'PATCH', url, 'company:update'),
  access: saveAccess,
  summary: 'Change the single sign-on configuration',
  description: `A partial update: a field that is absent stays as it is.

${saveNote}`,
  audit: { action: 'sso-config-update', target: 'sso-config', of: 'company' },
  errors: ['singleSignOnNotFound', ...saveErrors],
  examples: { mandatory: example('Require single sign-on', { mandatory: true }) },
  ...answers('The configuration as it is now', SsoConfig, { body: SsoConfigUpdate }),
} as const satisfies Operation

const domainId = idParams('Identifier of the domain')

export const listSingleSignOnDomains = {
  ...operation('listSingleSignOnDomains', 'GET', '/v2/entities/sso/domains', 'company:read'),
  summary: 'List the domains of single sign-on',
  description: 'All domains of the company, by name, with the DNS record that verifies each.',
  ...answers('The domains', Type.Array(SsoDomain)),
} as const satisfies Operation

export const addSingleSignOnDomain = {
  ...operation('addSingleSignOnDomain', 'POST', '/v2/entities/sso/domains', 'company:update'),
  summary: 'Claim a domain for single sign-on',
  description:
    'Answers the DNS record that shows the domain is yours. Nothing changes for any user until it is verified. A domain that another company has verified, and public mail services, are refused.',
  audit: { action: 'sso-domain-add', target: 'sso-domain', named: 'domain' },
  errors: ['domainTaken', 'tooManyDomains'],
  examples: { domain: example('A domain', { domain: 'example.com' }) },
  ...answers('The domain', SsoDomain, { body: SsoDomainCreation }),
} as const satisfies Operation

export const verifySingleSignOnDomain = {
  ...operation('verifySingleSignOnDomain', 'POST', '/v2/entities/sso/domains/:id/verify', 'company:update'),
  summary: 'Verify a domain',
  description:
    'Looks for the DNS record (TXT) of the domain now. A newly verified domain asks for a new proof before single sign-on can be required.',
  audit: { action: 'sso-domain-verify', target: 'sso-domain' },
  errors: ['domainNotFound', 'domainTaken', 'domainNotVerified'],
  ...answers('The domain, verified', SsoDomain, { params: domainId }),
} as const satisfies Operation

export const removeSingleSignOnDomain = {
  ...operation('removeSingleSignOnDomain', 'DELETE', '/v2/entities/sso/domains/:id', 'company:update'),
  summary: 'Remove a domain',
  description:
    'Users of the domain sign in by password again. After a verified one is removed, single sign-on is no longer required until it is proven again.',
  audit: { action: 'sso-domain-remove', target: 'sso-domain' },
  errors: ['domainNotFound'],
  ...succeeds('It is removed', { params: domainId }),
} as const satisfies Operation

export const listSingleSignOnCertificates = {
  ...operation('listSingleSignOnCertificates', 'GET', '/v2/entities/sso/certificates', 'company:read'),
  summary: 'List the certificates that sign our requests',
  ...answers('The certificates, the oldest first', Type.Array(SsoCertificate)),
} as const satisfies Operation

export const rotateSingleSignOnCertificate = {
  ...operation('rotateSingleSignOnCertificate', 'POST', '/v2/entities/sso/certificates', 'company:update'),
  summary: 'Make a new certificate',
  description: `Makes a new key with a certificate, valid for three years. Both are in our metadata from now on, and the older one remains the signing certificate: declare the new one at the identity provider, then retire the older one. So no user is locked out in between.

It works before there is a configuration, too, so that our metadata can be given to the identity provider first.`,
  audit: { action: 'sso-certificate-rotate', target: 'sso-certificate' },
  errors: ['tooManyCertificates'],
  ...answers('The new certificate', SsoCertificate),
} as const satisfies Operation

export const retireSingleSignOnCertificate = {
  ...operation(
    'retireSingleSignOnCertificate',
    'DELETE',
    '/v2/entities/sso/certificates/:id',
    'company:update',
  ),
  summary: 'Retire a certificate',
  description: 'Deletes its key at once; the other certificate signs from now on.',
  audit: { action: 'sso-certificate-retire', target: 'sso-certificate' },
  errors: ['certificateNotFound', 'certificateInUse'],
  ...succeeds('It is retired', { params: idParams('Identifier of the certificate') }),
} as const satisfies Operation

const companyId = object({ companyId: text('The company') })
const page = Type.String({ contentMediaType: 'text/html' })
const parameter = (description: string, maxLength: number) =>
  Type.Optional(Type.String({ maxLength, description }))

/** The way of a browser; its failures are pages for a browser and the fail envelope for others. */
export const startSingleSignOn = {
  ...openOperation('startSingleSignOn', 'GET', '/v2/sso/saml/login'),
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
    querystring: object({
      domain: parameter('Domain of the e-mail address; or `company`', 253),
      company: parameter('Identifier of the company; or `domain`', 24),
      client_id: parameter('Application that the user signs in to', 128),
      redirect_uri: parameter('Where the browser is redirected in the end; registered for the client', 2_048),
      response_type: parameter('`code`', 32),
      state: parameter('Given back untouched', 2_048),
      code_challenge: parameter('RFC 7636: base64url of the SHA-256 of the verifier', 128),
      code_challenge_method: parameter('`S256`', 32),
      lang: parameter('Language of the pages', 35),
    }),
    response: { 200: page },
  },
} as const satisfies Operation

export const readServiceProviderMetadata = {
  ...openOperation('readServiceProviderMetadata', 'GET', '/v2/sso/saml/:companyId/metadata'),
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

const AcsForm = named('AcsForm', {
  SAMLResponse: text('The response in base64'),
  RelayState: Type.Optional(text('Ignored')),
})

export const consumeSamlResponse = {
  ...openOperation('consumeSamlResponse', 'POST', '/v2/sso/saml/:companyId/acs'),
  summary: 'Accept a response of the identity provider',
  description: `Where the identity provider has the browser post its response (HTTP-POST binding). The assertion must be signed by a configured certificate, not encrypted, meant for us and now, and answer a request that the same browser was sent with. Sign-ins that began at the identity provider are refused unless the company has set \`allowIdpInitiated\`: then they are accepted within two minutes after the assertion was made, once, and lead to the one address that the company has set. RelayState is ignored.

Why a response was refused is in the audit log under the reference of the answer.`,
  errors: ['missingSamlResponse', 'singleSignOnRefused', 'tooManySamlResponses', 'forbidden'],
  consumes: ['application/x-www-form-urlencoded'],
  described: { body: AcsForm },
  examples: { response: example('A response', { SAMLResponse: 'PHNhbWxwOlJlc3BvbnNlLz4=' }) },
  replies: {
    303: {
      description: 'It was accepted',
      headers: { Location: 'Where the same browser finishes the sign-in' },
    },
  },
  schema: { params: companyId, response: { 303: Type.Null() } },
} as const satisfies Operation

export const finishSingleSignOn = {
  ...openOperation('finishSingleSignOn', 'GET', '/v2/sso/saml/:companyId/finish'),
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
    querystring: object({ result: parameter('Which response', 128) }),
    response: { 200: page, 303: Type.Null() },
  },
} as const satisfies Operation

const ConfirmationForm = named('ConfirmationForm', {
  result: text('Which response'),
  form_token: text('What the page of the question holds for this browser'),
})

export const confirmSingleSignOn = {
  ...openOperation('confirmSingleSignOn', 'POST', '/v2/sso/saml/:companyId/confirm'),
  summary: 'Confirm a sign-in that began at the identity provider',
  description:
    'The form of the question that such a sign-in ends with, sent by the browser that was asked; works once, within two minutes. The page that it answers leads to `idpInitiatedUrl` with `iss`, this service’s address (OpenID Connect Core 4). The next `GET /v2/oauth/authorize` of that browser for that application, within two minutes, needs no other sign-in.',
  errors: ['singleSignOnRefused', 'tooManySamlResponses', 'invalidClient', 'forbidden'],
  consumes: ['application/x-www-form-urlencoded'],
  described: { body: ConfirmationForm },
  examples: {
    confirmation: example('A confirmation', {
      result: 'Vd7p0m9S3m0c1Yw6u0F8Vd7p0m9S3m0c1Yw6u0F8Vd7',
      form_token: 'kV2n5xJ0b8QmXg1r3sT4uW6yZaCdEfHiKlMnOpQrStU',
    }),
  },
  replies: { 200: { description: 'A page that leads to the application' } },
  schema: { params: companyId, response: { 200: page } },
} as const satisfies Operation
