import { type Static, Type } from 'typebox'
import { assertionPathPattern, dateTime, id, nullable, oneOf, responseOnly, strict } from './formats.ts'

const path = (what: string, example: string) =>
  Type.String({ pattern: assertionPathPattern, description: `Where ${what} stands`, examples: [example] })

/** Where each field of a user stands in an assertion: `nameId`, or `attributes.` and the attribute's name. */
export const AttributeMapping = Type.Object(
  {
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
  },
  { ...strict, title: 'AttributeMapping' },
)
export type AttributeMapping = Static<typeof AttributeMapping>

export const provisioningModes = ['invitation', 'create'] as const

/** A certificate of the identity provider, or one of ours. */
const IdpCertificate = Type.Object(
  {
    fingerprint: Type.String({ description: 'SHA-256 of the certificate, in hexadecimal' }),
    expiresAt: dateTime('When it ends'),
  },
  strict,
)

/** How the users of a company sign in through its identity provider (SAML 2.0). */
export const SsoConfig = Type.Object(
  {
    idpMetadataXml: nullable(
      Type.String({ description: 'The metadata of the identity provider, when it was pasted' }),
    ),
    idpMetadataUrl: nullable(Type.String({ description: 'Where the metadata was fetched from' })),
    idpEntityId: Type.String({ description: 'How the identity provider calls itself' }),
    idpSignInUrl: Type.String({ description: 'Where users are sent to sign in' }),
    idpCertificates: Type.Array(IdpCertificate, { description: 'What its signatures are verified with' }),
    attributeMapping: AttributeMapping,
    provisioning: oneOf(provisioningModes, {
      description: '`invitation`: only existing or invited users; `create`: also creates new ones',
    }),
    defaultRoleId: nullable(id('Role of users who are created; null is that of the company')),
    defaultTeamIds: Type.Array(id('A team of users who are created'), {
      description: 'None is the default team of the company',
    }),
    mandatory: Type.Boolean({ description: 'Whether users of the verified domains must sign in this way' }),
    allowIdpInitiated: Type.Boolean({
      description: 'Whether a sign-in may begin at the identity provider, without a request of ours',
    }),
    idpInitiatedClientId: nullable(id('Application (OAuth client) that such a sign-in is for')),
    idpInitiatedUrl: nullable(
      Type.String({
        description:
          'Where the browser goes then: an address of that application at which it begins a sign-in',
      }),
    ),
    metadataReadAt: nullable(
      dateTime('When the metadata was last read from its address; it is read again each day'),
    ),
    metadataError: nullable(
      Type.String({ description: 'Why the last reading failed; what was known before stays in use' }),
    ),
    provenAt: nullable(dateTime('When a sign-in with the present metadata and domains first succeeded')),
    entityId: Type.String({ description: 'Ours: the audience of assertions' }),
    acsUrl: Type.String({ description: 'Ours: where the identity provider posts its response' }),
    metadataUrl: Type.String({ description: 'Ours: the metadata for the identity provider' }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
  },
  { ...strict, title: 'SsoConfig' },
)
export type SsoConfig = Static<typeof SsoConfig>

const metadataXml = nullable(
  Type.String({ minLength: 1, maxLength: 524_288, description: 'Metadata as XML; instead of an address' }),
)
const metadataUrl = nullable(
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'Address of the metadata, fetched now and each day; instead of XML',
    examples: ['https://idp.example.com/metadata'],
  }),
)
const initiatedUrl = nullable(
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    description:
      'Address at which the application begins a sign-in, of the same origin as a registered redirect_uri',
    examples: ['https://app.example.com/sign-in'],
  }),
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
export const SsoConfigReplacement = Type.Object(
  { ...replacement, ...responseOnly(SsoConfig, replacement) },
  { ...strict, title: 'SsoConfigReplacement' },
)
export type SsoConfigReplacement = Static<typeof SsoConfigReplacement>

/** Partial: a field that is absent stays as it is. */
export const SsoConfigUpdate = Type.Object(
  { ...update, ...responseOnly(SsoConfig, update) },
  { ...strict, title: 'SsoConfigUpdate' },
)
export type SsoConfigUpdate = Static<typeof SsoConfigUpdate>

/** A domain of e-mail addresses; once it is verified it is the company's alone. */
export const SsoDomain = Type.Object(
  {
    id: id('Identifier of the domain'),
    domain: Type.String({ examples: ['example.com'] }),
    status: oneOf(['pending', 'verified']),
    recordName: Type.String({
      description: 'Name of the DNS record (TXT) that shows the domain is yours',
      examples: ['_millrace-challenge.example.com'],
    }),
    recordValue: Type.String({
      description: 'What the record must hold',
      examples: ['millrace-domain-verification=Vd7p0m9S3m0c1Yw6u0F8'],
    }),
    verifiedAt: nullable(dateTime('When it was verified')),
    loginUrl: Type.String({
      description:
        'Where a sign-in of the domain begins: with the parameters of an application, or as it is for a trial of single sign-on',
    }),
    createdAt: dateTime('When it was claimed'),
  },
  { ...strict, title: 'SsoDomain' },
)
export type SsoDomain = Static<typeof SsoDomain>

const domainCreation = {
  domain: Type.String({
    minLength: 3,
    maxLength: 253,
    description: 'Exactly this domain, not those below it',
    examples: ['example.com'],
  }),
}

export const SsoDomainCreation = Type.Object(
  { ...domainCreation, ...responseOnly(SsoDomain, domainCreation) },
  { ...strict, title: 'SsoDomainCreation' },
)
export type SsoDomainCreation = Static<typeof SsoDomainCreation>

/** What our requests to the identity provider are signed with. */
export const SsoCertificate = Type.Object(
  {
    id: id('Identifier of the certificate'),
    certificate: Type.String({ description: 'X.509 in PEM, to be declared at the identity provider' }),
    fingerprint: Type.String({ description: 'SHA-256 of the certificate, in hexadecimal' }),
    signs: Type.Boolean({ description: 'Whether requests are signed with it now: the oldest valid one is' }),
    expiresAt: dateTime('When it ends'),
    createdAt: dateTime('When it was made'),
  },
  { ...strict, title: 'SsoCertificate' },
)
export type SsoCertificate = Static<typeof SsoCertificate>
