import { type Static, Type } from 'typebox'
import { filled, named, optionals, text } from './formats.ts'

const secret = (description: string) => filled(description, 4_096)
const clientId = filled('Which application asks; the operator of the service gives it', 128)

export const PasswordGrant = Type.Object(
  {
    grant_type: Type.Literal('password'),
    client_id: clientId,
    username: filled('The user’s e-mail address', 254),
    password: secret('Exactly as the user set it'),
    'x-otp-code': Type.Optional(
      Type.String({ maxLength: 40, description: 'One-time or recovery code, for users who turned them on' }),
    ),
  },
  { title: 'PasswordGrant' },
)
export type PasswordGrant = Static<typeof PasswordGrant>

export const RefreshTokenGrant = Type.Object(
  {
    grant_type: Type.Literal('refresh_token'),
    client_id: clientId,
    refresh_token: Type.Optional(
      secret(
        'The refresh token of an earlier answer to the same client; absent where the cookie of a page of this service has it',
      ),
    ),
  },
  { title: 'RefreshTokenGrant' },
)
export type RefreshTokenGrant = Static<typeof RefreshTokenGrant>

export const AuthorizationCodeGrant = Type.Object(
  {
    grant_type: Type.Literal('authorization_code'),
    client_id: clientId,
    code: secret('From the address that the sign-in returned to; works once, for 60 seconds'),
    redirect_uri: filled('The same as asked with', 2_048),
    code_verifier: Type.String({ minLength: 43, maxLength: 128, description: 'RFC 7636' }),
    refresh_token_in: Type.Optional(
      Type.Literal('cookie', {
        description:
          'For pages of this service alone: the refresh token comes in the cookie `refresh_token`, which no script reads, and not in the body',
      }),
    ),
  },
  { title: 'AuthorizationCodeGrant' },
)
export type AuthorizationCodeGrant = Static<typeof AuthorizationCodeGrant>

/**
 * Body of the token endpoint. Fields that are not named are ignored, unlike anywhere else: RFC 6749 3.2
 * demands it, and ordinary OAuth clients send some (`scope`).
 */
export const TokenRequest = Type.Union([PasswordGrant, RefreshTokenGrant, AuthorizationCodeGrant], {
  title: 'TokenRequest',
  description: 'Which fields are needed depends on `grant_type`; fields that are not named are ignored',
})
export type TokenRequest = Static<typeof TokenRequest>

/** Body of the revocation endpoint (RFC 7009 2.1); as above, fields that are not named are ignored. */
export const RevocationRequest = Type.Object(
  {
    client_id: clientId,
    ...optionals({
      token: secret(
        'An access token or a refresh token of this client; absent where the cookie of a page of this service has it',
      ),
      token_type_hint: text('Which of the two it is; not needed, and a wrong one does not matter'),
    }),
  },
  { title: 'RevocationRequest' },
)
export type RevocationRequest = Static<typeof RevocationRequest>

/** Bare, without envelope (docs/interface.md, Token service). */
export const TokenResponse = named('TokenResponse', {
  access_token: text('Send it as `Authorization: Bearer …`; opaque'),
  refresh_token: Type.Optional(
    text(
      'Gives the next access token; valid for 30 days after the last access token. Absent for a client that may not use the grant `refresh_token`, and where it is in the cookie',
    ),
  ),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds that the access token is valid', examples: [3600] }),
})
export type TokenResponse = Static<typeof TokenResponse>
