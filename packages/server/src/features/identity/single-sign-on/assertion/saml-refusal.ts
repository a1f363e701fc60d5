/** The message cannot be read, or there is none: it takes no knowledge of SAML to send it. */
const unreadable = [
  'not-base64',
  'too-large',
  'not-utf8',
  'malformed-xml',
  'markup-declaration',
  'processing-instruction',
  'too-deep',
  'too-many-elements',
  'no-configuration',
  'unknown-result',
] as const

/** Refused before a signature was verified. */
const unproven = [
  'duplicate-id',
  'foreign-id',
  'unexpected-structure',
  'encrypted',
  'status-not-success',
  'wrong-destination',
  'unsigned',
  'signature-wrapped',
  'signature-malformed',
  'algorithm-refused',
  'signature-invalid',
  'certificate-expired',
  'wrong-issuer',
] as const

/** Refused for what was signed. */
const proven = [
  // What it says.
  'wrong-recipient',
  'wrong-audience',
  'unknown-condition',
  'no-time-limit',
  'not-yet-valid',
  'expired',
  'session-expired',
  'no-subject',
  'no-bearer-confirmation',
  'no-authentication',
  'transient-name-id',
  // Whether it is expected.
  'unsolicited',
  'too-old',
  'unknown-request',
  'request-used',
  'request-expired',
  'replayed',
  'configuration-changed',
  'other-browser',
  // Whom it is about.
  'no-email',
  'domain-not-verified',
  'other-company',
  'other-identity',
  'ambiguous-person',
  'former-address',
  'possible-duplicate',
  'not-invited',
  'no-default-role',
  'disabled',
  'service-account',
] as const

/**
 * Why a sign-in through an identity provider was refused. The name goes to the audit log and the metrics; the
 * page shows none of it, because a forger reads that page.
 */
export type RefusalReason = (typeof unreadable)[number] | (typeof unproven)[number] | (typeof proven)[number]

/**
 * How many entries of the audit log such a refusal may make for one network and company in a minute; undefined where
 * each makes one.
 */
export function maxEntriesPerMinute(reason: RefusalReason): number | undefined {
  const isOneOf = (reasons: readonly RefusalReason[]) => reasons.includes(reason)
  if (isOneOf(unreadable)) return 1
  return isOneOf(unproven) ? 10 : undefined
}

/** What an administrator can do, in the words of the audit log, where the reason alone does not say it. */
export const remedies: Readonly<Partial<Record<RefusalReason, string>>> = {
  unsolicited:
    'The sign-in began at the identity provider. Start at the application, or set allowIdpInitiated in the configuration of single sign-on',
  'other-identity':
    'The user with this address is known under another name or externalId at the identity provider. If it is the same person, unlink the user (DELETE /v2/entities/users/{id}/sso-link); if not, give one of the two another address',
  'ambiguous-person':
    'Name, externalId and address lead to different users. Unlink, rename or delete the one that is not this person',
  'former-address':
    'A user of the company had this address before. If it is the same person, rename the user back or correct the address at the identity provider; if not, invite the address',
  'possible-duplicate':
    'A user of the company has the same name or was known by this address. If it is the same person, rename the user to the address that the identity provider sends; if not, invite the address',
}

/** A response, or the sign-in that it would end, is not accepted. */
export class SamlRefusal extends Error {
  readonly reason: RefusalReason
  /** The request that the message claims to answer; that may be unsigned. */
  readonly inResponseTo: string | undefined
  /** Users that it is about, besides the one that the message names. */
  readonly userIds: readonly string[]

  constructor(
    reason: RefusalReason,
    cause?: unknown,
    inResponseTo?: string,
    userIds: readonly string[] = [],
  ) {
    super(`single sign-on refused: ${reason}`, { cause })
    this.name = 'SamlRefusal'
    this.reason = reason
    this.inResponseTo = inResponseTo
    this.userIds = userIds
  }

  /** What the identity provider says fits no single user, or the wrong one. */
  static about(reason: RefusalReason, ...userIds: string[]): SamlRefusal {
    return new SamlRefusal(reason, undefined, undefined, userIds)
  }
}
