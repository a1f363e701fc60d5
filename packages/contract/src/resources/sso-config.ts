import { type Static, Type } from 'typebox'
import {
  assertionPathPattern,
  bodyOf,
  dateTime,
  filled,
  flag,
  id,
  like,
  listOf,
  named,
  nullable,
  object,
  oneOf,
  text,
  times,
} from './formats.ts'

const path = (what: string, example: string) =>
  text(`Where ${what} stands`, example, { pattern: assertionPathPattern })

/** Where each field of a user stands in an assertion: `nameId`, or `attributes.` and the attribute's name. */
export const AttributeMapping = named('AttributeMapping', {
  email: path('the e-mail address', 'attributes.email'),
  externalId: Type.Optional(
    path(
      'an identifier that never changes, the one that provisioning sends as `externalId` where it is used,',
      'attributes.externalId',
    ),
  ),
  firstName: Type.Optional(path('the first name', 'attributes.firstName')),
  lastName: Type.Optional(path('the last name', 'attributes.lastName')),
  jobTitle: Type.Optional(path('the job title', 'attributes.title')),
  phone: Type.Optional(path('the telephone number', 'attributes.phone')),
  language: Type.Optional(path('the language', 'attributes.language')),
})
export type AttributeMapping = Static<typeof AttributeMapping>

export const provisioningModes = ['invitation', 'create'] as const

/** A certificate of the identity provider, or one of ours. */
const IdpCertificate = object({
  fingerprint: text('SHA-256 of the certificate, in hexadecimal'),
  expiresAt: dateTime('When it ends'),
})

/** How the users of a company sign in through its identity provider (SAML 2.0). */
export const SsoConfig = named('SsoConfig', {
  idpMetadataXml: nullable(text('The metadata of the identity provider, when it was pasted')),
  idpMetadataUrl: nullable(text('Where the metadata was fetched from')),
  idpEntityId: text('How the identity provider calls itself'),
  idpSignInUrl: text('Where users are sent to sign in'),
  idpCertificates: listOf(IdpCertificate, 'What its signatures are verified with'),
  attributeMapping: AttributeMapping,
  provisioning: oneOf(
    provisioningModes,
    '`invitation`: only existing or invited users; `create`: also creates new ones',
  ),
  defaultRoleId: nullable(id('Role of users who are created; null is that of the company')),
  defaultTeamIds: listOf(id('A team of users who are created'), 'None is the default team of the company'),
  mandatory: flag('Whether users of the verified domains must sign in this way'),
  allowIdpInitiated: flag('Whether a sign-in may begin at the identity provider, without a request of ours'),
  idpInitiatedClientId: nullable(id('Application (OAuth client) that such a sign-in is for')),
  idpInitiatedUrl: nullable(
    text('Where the browser goes then: an address of that application at which it begins a sign-in'),
  ),
  metadataReadAt: nullable(
    dateTime('When the metadata was last read from its address; it is read again each day'),
  ),
  metadataError: nullable(text('Why the last reading failed; what was known before stays in use')),
  provenAt: nullable(dateTime('When a sign-in with the present metadata and domains first succeeded')),
  entityId: text('Ours: the audience of assertions'),
  acsUrl: text('Ours: where the identity provider posts its response'),
  metadataUrl: text('Ours: the metadata for the identity provider'),
  ...times,
})
export type SsoConfig = Static<typeof SsoConfig>

const metadataXml = nullable(filled('Metadata as XML; instead of an address', 524_288))
const metadataUrl = nullable(
  filled(
    'Address of the metadata, fetched now and each day; instead of XML',
    2_048,
    'https://idp.example.com/metadata',
  ),
)
const initiatedUrl = nullable(
  filled(
    'Address at which the application begins a sign-in, of the same origin as a registered redirect_uri',
    2_048,
    'https://app.example.com/sign-in',
  ),
)
const teamIds = Type.Array(id('A team of users who are created'), { maxItems: 100, uniqueItems: true })

const optional = {
  idpMetadataXml: Type.Optional(metadataXml),
  idpMetadataUrl: Type.Optional(metadataUrl),
  provisioning: Type.Optional(SsoConfig.properties.provisioning),
  defaultRoleId: Type.Optional(SsoConfig.properties.defaultRoleId),
  defaultTeamIds: Type.Optional(teamIds),
  mandatory: Type.Optional(SsoConfig.properties.mandatory),
  allowIdpInitiated: Type.Optional(SsoConfig.properties.allowIdpInitiated),
  idpInitiatedClientId: Type.Optional(SsoConfig.properties.idpInitiatedClientId),
  idpInitiatedUrl: Type.Optional(initiatedUrl),
}

const replacement = { ...optional, attributeMapping: AttributeMapping }
const update = { ...optional, attributeMapping: Type.Optional(AttributeMapping) }

/** Whole: a field that is absent gets its default. */
export const SsoConfigReplacement = bodyOf('SsoConfigReplacement', SsoConfig, replacement)
export type SsoConfigReplacement = Static<typeof SsoConfigReplacement>

/** Partial: a field that is absent stays as it is. */
export const SsoConfigUpdate = bodyOf('SsoConfigUpdate', SsoConfig, update)
export type SsoConfigUpdate = Static<typeof SsoConfigUpdate>

/** A domain of e-mail addresses; once it is verified it is the company's alone. */
export const SsoDomain = named('SsoDomain', {
  id: id('Identifier of the domain'),
  domain: like('example.com'),
  status: oneOf(['pending', 'verified']),
  recordName: text(
    'Name of the DNS record (TXT) that shows the domain is yours',
    '_millrace-challenge.example.com',
  ),
  recordValue: text('What the record must hold', 'millrace-domain-verification=Vd7p0m9S3m0c1Yw6u0F8'),
  verifiedAt: nullable(dateTime('When it was verified')),
  loginUrl: text(
    'Where a sign-in of the domain begins: with the parameters of an application, or as it is for a trial of single sign-on',
  ),
  createdAt: dateTime('When it was claimed'),
})
export type SsoDomain = Static<typeof SsoDomain>

const domainCreation = {
  domain: text('Exactly this domain, not those below it', 'example.com', { minLength: 3, maxLength: 253 }),
}

export const SsoDomainCreation = bodyOf('SsoDomainCreation', SsoDomain, domainCreation)
export type SsoDomainCreation = Static<typeof SsoDomainCreation>

/** What our requests to the identity provider are signed with. */
export const SsoCertificate = named('SsoCertificate', {
  id: id('Identifier of the certificate'),
  certificate: text('X.509 in PEM, to be declared at the identity provider'),
  fingerprint: text('SHA-256 of the certificate, in hexadecimal'),
  signs: flag('Whether requests are signed with it now: the oldest valid one is'),
  expiresAt: dateTime('When it ends'),
  createdAt: dateTime('When it was made'),
})
export type SsoCertificate = Static<typeof SsoCertificate>
