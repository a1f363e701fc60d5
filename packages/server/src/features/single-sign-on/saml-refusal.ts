/**
 * Why a sign-in through an identity provider was refused. The name goes to the audit log and the metrics; the
 * person is told none of it, because whoever tries to forge a response reads that page.
 */
export const refusalReasons = [
  // The message cannot be read, or is written as no identity provider writes one.
  'not-base64',
  'too-large',
  'not-utf8',
  'malformed-xml',
  'markup-declaration',
  'processing-instruction',
  'too-deep',
  'too-many-elements',
  'duplicate-id',
  'foreign-id',
  'unexpected-structure',
  'encrypted',
  // The signature.
  'unsigned',
  'signature-wrapped',
  'signature-malformed',
  'algorithm-refused',
  'signature-invalid',
  'certificate-expired',
  // What it says.
  'status-not-success',
  'wrong-issuer',
  'wrong-destination',
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
  // Whether somebody waits for it.
  'unsolicited',
  'unknown-request',
  'request-used',
  'request-expired',
  'replayed',
  'configuration-changed',
  'no-configuration',
  'unknown-result',
  'other-browser',
  // Whom it is about.
  'no-email',
  'domain-not-verified',
  'other-company',
  'other-identity',
  'not-invited',
  'no-default-role',
  'disabled',
  'service-account',
] as const

export type RefusalReason = (typeof refusalReasons)[number]

/** A response, or the sign-in that it would end, is not accepted. */
export class SamlRefusal extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, cause?: unknown) {
    super(`single sign-on refused: ${reason}`, { cause })
    this.name = 'SamlRefusal'
    this.reason = reason
  }
}
