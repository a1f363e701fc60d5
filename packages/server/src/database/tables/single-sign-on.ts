import { boolean, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { bytes, history, id, instant } from './columns.ts'

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
  /** When somebody first signed in with the present metadata and domains. */
  provenAt: instant('proven_at'),
  ...history,
})

/** Teams of people whom single sign-on creates. */
export const ssoDefaultTeams = pgTable(
  'sso_default_teams',
  { companyId: id('company_id').notNull(), teamId: id('team_id').notNull() },
  (table) => [primaryKey({ columns: [table.companyId, table.teamId] })],
)

/** A domain of addresses; it belongs to the one company that has verified it. */
export const ssoDomains = pgTable('sso_domains', {
  id: id('id').primaryKey(),
  companyId: id('company_id').notNull(),
  domain: text('domain').notNull(),
  challenge: text('challenge').notNull(),
  verifiedAt: instant('verified_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
})

/** What our requests are signed with; the oldest that is valid signs, all stand in our metadata. */
export const ssoCertificates = pgTable('sso_certificates', {
  id: id('id').primaryKey(),
  companyId: id('company_id').notNull(),
  /** In PEM. */
  certificate: text('certificate').notNull(),
  /** The private key in PEM, sealed. */
  sealedKey: bytes('sealed_key').notNull(),
  notAfter: instant('not_after').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
})

/** Under which name a person is known at the company's identity provider. */
export const ssoIdentities = pgTable(
  'sso_identities',
  {
    companyId: id('company_id').notNull(),
    idpEntityId: text('idp_entity_id').notNull(),
    nameId: text('name_id').notNull(),
    userId: id('user_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.idpEntityId, table.nameId] })],
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

/** What a verified response said, until the same browser comes for it. */
export const samlResults = pgTable('saml_results', {
  secretHash: bytes('secret_hash').primaryKey(),
  companyId: id('company_id').notNull(),
  requestId: text('request_id').notNull(),
  idpEntityId: text('idp_entity_id').notNull(),
  nameId: text('name_id').notNull(),
  attributes: jsonb('attributes').$type<Record<string, string[]>>().notNull(),
  expiresAt: instant('expires_at').notNull(),
})

/** Assertions that were taken, for as long as each is valid. */
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
