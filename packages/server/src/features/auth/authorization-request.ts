import type { Language } from '../../platform/mail/letter.ts'

/** A valid request for an authorization code (RFC 6749 4.1.1 with RFC 7636), of a client that may ask so. */
export interface AuthorizationRequest {
  readonly clientId: string
  /** Registered for the client, as it was given. */
  readonly redirectUri: string
  /** Given back untouched. */
  readonly state: string | undefined
  /** base64url of the SHA-256 of the verifier: 43 characters. */
  readonly codeChallenge: string
  readonly language: Language
}
