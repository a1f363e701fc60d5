import { boolean, integer, jsonb, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, history, id, instant, owned } from './columns.ts'

/** How a company signs in through its identity provider; one or none each. */
export const ssoConfigs = pgTable('sso_configs', {
  companyId: id('company_id').primaryKey(),
  /** Another one after each change that a sign-in under way relies on. */
  version: id('version').notNull(),
  metadataXml: text('metadata_xml').notNull(),
  metadataUrl: text('metadata_url'),
  idpEntityId: text('idp_entity_id').notNull(),
  idpSignInUrl: text('idp_sign_in_url').notNull(),
  /** In PEM. */
  idpCertificates: text('idp_certificates').array().notNull(),
  attributeMapping: jsonb('attribute_mapping').$type<Record<string, string>>().notNull(),
  provisioning: text('provisioning', { enum: ['invitation', 'create'] }).notNull(),
  /** Null follows the company. */
  defaultRoleId: id('default_role_id'),
  mandatory: boolean('mandatory').notNull().default(false),
  /** When a user first signed in with the present metadata and domains. */
  provenAt: instant('proven_at'),
  /** Whether responses that answer no request are accepted. */
  allowIdpInitiated: boolean('allow_idp_initiated').notNull().default(false),
  /** The application that such a sign-in is for, and where it begins a sign-in of its own. */
  idpInitiatedClientId: id('idp_initiated_client_id'),
  idpInitiatedUrl: text('idp_initiated_url'),
  /** When the document at `metadataUrl` was last read with success. */
  metadataReadAt: instant('metadata_read_at'),
  /** Why the last reading failed. */
  metadataError: text('metadata_error'),
  /** Readings that failed one after the other. */
  metadataFailures: integer('metadata_failures').notNull().default(0),
  metadataNextAt: instant('metadata_next_at'),
  /** When administrators were notified of these failures. */
  metadataNotifiedAt: instant('metadata_notified_at'),
  ...history,
})

/** Teams of users whom single sign-on creates. */
export const ssoDefaultTeams = pgTable(
  'sso_default_teams',
  { companyId: id('company_id').notNull(), teamId: id('team_id').notNull() },
  (table) => [primaryKey({ columns: [table.companyId, table.teamId] })],
)

/** A domain of addresses; it belongs to the one company that has verified it. */
export const ssoDomains = pgTable('sso_domains', {
  ...owned,
  domain: text('domain').notNull(),
  challenge: text('challenge').notNull(),
  verifiedAt: instant('verified_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
})

/** What our requests are signed with; the oldest that is valid signs, all stand in our metadata. */
export const ssoCertificates = pgTable('sso_certificates', {
  ...owned,
  /** In PEM. */
  certificate: text('certificate').notNull(),
  /** The private key in PEM, sealed. */
  sealedKey: bytes('sealed_key').notNull(),
  notAfter: instant('not_after').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
})

/** The name of a user at the company's identity provider. */
export const ssoIdentities = pgTable(
  'sso_identities',
  {
    companyId: id('company_id').notNull(),
    idpEntityId: text('idp_entity_id').notNull(),
    nameId: text('name_id').notNull(),
    userId: id('user_id').notNull(),
    /** `email` is stored in lower case; null for a link from before formats were kept, until its next use. */
    nameFormat: text('name_format', { enum: ['email', 'other'] }),
    /** The identity provider's identifier of the user that never changes. */
    externalId: text('external_id'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.idpEntityId, table.nameId] })],
)

/** A NameID that was unlinked from a user; it is never linked to a user with permissions beyond those kept here. */
export const ssoUnlinkedNames = pgTable(
  'sso_unlinked_names',
  {
    companyId: id('company_id').notNull(),
    idpEntityId: text('idp_entity_id').notNull(),
    /** SHA-256 of the name as links are stored under it. */
    nameHash: bytes('name_hash').notNull(),
    userId: id('user_id').notNull(),
    /** Each `resource:action` of that user then. */
    permissions: text('permissions').array().notNull(),
    unlinkedAt: instant('unlinked_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.idpEntityId, table.nameHash] })],
)

/** Former addresses of users; a trigger keeps them. */
export const formerAddresses = pgTable(
  'former_addresses',
  {
    companyId: id('company_id').notNull(),
    email: text('email').notNull(),
    userId: id('user_id').notNull(),
    changedAt: instant('changed_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.email, table.userId] })],
)

/** A sign-in that was sent to the identity provider, bound to one browser. */
export const samlRequests = pgTable('saml_requests', {
  id: text('id').primaryKey(),
  companyId: id('company_id').notNull(),
  configVersion: id('config_version').notNull(),
  browserHash: bytes('browser_hash').notNull(),
  network: text('network').notNull(),
  /** Of what names the browser; null for a sign-in that began before it was kept. */
  browserNameHash: bytes('browser_name_hash'),
  browserKnown: boolean('browser_known').notNull().default(false),
  authorizationRequest: jsonb('authorization_request').notNull(),
  createdAt: instant('created_at').notNull(),
  expiresAt: instant('expires_at').notNull(),
  usedAt: instant('used_at'),
})

/** The assertion of a verified response, until the same browser fetches it. */
export const samlResults = pgTable('saml_results', {
  secretHash: bytes('secret_hash').primaryKey(),
  companyId: id('company_id').notNull(),
  requestId: text('request_id').notNull(),
  idpEntityId: text('idp_entity_id').notNull(),
  nameId: text('name_id').notNull(),
  nameFormat: text('name_format', { enum: ['email', 'other'] }).notNull(),
  attributes: jsonb('attributes').$type<Record<string, string[]>>().notNull(),
  expiresAt: instant('expires_at').notNull(),
})

/** Accepted assertions, for as long as each is valid. */
export const samlAssertions = pgTable(
  'saml_assertions',
  {
    companyId: id('company_id').notNull(),
    idpEntityId: text('idp_entity_id').notNull(),
    assertionId: text('assertion_id').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.idpEntityId, table.assertionId] })],
)

/** Which mails about the end of a certificate were sent. */
export const ssoCertificateNotices = pgTable(
  'sso_certificate_notices',
  {
    companyId: id('company_id').notNull(),
    fingerprint: text('fingerprint').notNull(),
    days: integer('days').notNull(),
    sentAt: instant('sent_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.fingerprint, table.days] })],
)
