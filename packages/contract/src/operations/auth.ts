import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { example, operationsOf } from '../operation-builders.ts'
import { named, oneOf } from '../resources/formats.ts'
import { RevocationRequest, TokenRequest, TokenResponse } from '../resources/token.ts'

const operation = operationsOf('Authentication', 'open')

const clientId = 'my-client-id'

/** Operation 1. The route validates the body itself: failures carry RFC 6749's fields beside the envelope's. */
export const createToken = {
  ...operation('createToken', 'POST', '/v2/auth/token'),
  number: 1,
  summary: 'Get an access token',
  description: `Gives an access token, which every other operation needs, and a refresh token where the client may use it.

- Grant \`password\`: \`username\` (the e-mail address), \`password\` and \`client_id\`; for users who turned on one-time codes \`x-otp-code\` too.
- Grant \`refresh_token\`: \`refresh_token\` and \`client_id\`. Without \`refresh_token\` the cookie of that name counts.
- Grant \`authorization_code\`: \`code\`, \`redirect_uri\`, \`code_verifier\` and \`client_id\`, after a sign-in in the browser at \`/v2/oauth/authorize\` (RFC 6749 4.1 with PKCE S256; metadata at \`/.well-known/oauth-authorization-server\`).

A page of this service asks with \`refresh_token_in\`: \`cookie\` and the code for the refresh token in a cookie instead of the body: HttpOnly, SameSite=Lax, Secure behind https, sent to this operation and \`/v2/oauth/revoke\` alone. A refresh with the cookie leaves the token out of its answer too. The cookie counts, and is given, only for requests from the origin of the service itself, by \`Sec-Fetch-Site\`, else \`Origin\`; where two cookies of the name are sent, neither counts.

The access token is valid for one hour. The refresh token is valid for 30 days after the last access token that it issued: refreshing keeps the same refresh token and extends its validity. A client that is configured to rotate its refresh tokens gets another one with every refresh: the one before works for 30 seconds more, for requests at once and for answers that were lost, and the use of any older one ends the session with everything that it gave. The answer is bare, without the success envelope; failures carry the fields of the fail envelope and RFC 6749's \`error\` and \`error_description\` side by side.`,
  errors: [
    'invalidTokenRequest',
    'unsupportedGrantType',
    'unauthorizedClient',
    'invalidGrant',
    'invalidClient',
    'invalidCredentials',
    'otpRequired',
    'tooManyAttempts',
    'signInUnavailable',
  ],
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  described: { body: TokenRequest },
  examples: {
    password: example('With a password', {
      grant_type: 'password',
      client_id: clientId,
      username: 'ada@example.com',
      password: 'correct horse battery staple',
    }),
    authorization_code: example('With the code of a sign-in in the browser', {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: 'SplxlOBeZQQYbYS6WxSbIA2gB0t3v8pLqf5Yx1m9dEk',
      redirect_uri: 'https://app.example.com/signed-in',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    }),
    refresh_token: example('With a refresh token', {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: 'YsX1kU3b0s4mJxk7mO2c2h0G3b5H8Jv1f0n3Q9w2e8A',
    }),
  },
  replies: {
    200: {
      description: 'The tokens',
      headers: {
        'Cache-Control': 'Always `no-store`',
        'Set-Cookie': 'The refresh token, where it is kept in the cookie',
      },
      examples: {
        tokens: example('Tokens', {
          access_token: 'Vd7p0m9S3m0c1Yw6u0F8b5r2Tq4J6k9Z1x3N7e5L2aU',
          refresh_token: 'YsX1kU3b0s4mJxk7mO2c2h0G3b5H8Jv1f0n3Q9w2e8A',
          token_type: 'Bearer',
          expires_in: 3600,
        }),
      },
    },
  },
  schema: { response: { 200: TokenResponse } },
} as const satisfies Operation

/** RFC 7009. The route validates the body itself, as for tokens. */
export const revokeToken = {
  ...operation('revokeToken', 'POST', '/v2/oauth/revoke'),
  summary: 'Revoke a token',
  description: `Ends a token at once, in every process of the service.

- A refresh token is revoked with its access tokens: the session is signed out. So does one that another has replaced.
- An access token is revoked alone; its refresh token remains valid.
- Without \`token\` a page of this service signs out by its cookie \`refresh_token\`, which is taken away.

A token that is unknown or has ended already is answered like one that was revoked. Failures carry the fields of the fail envelope and RFC 6749's \`error\` and \`error_description\` side by side.`,
  idempotent: true,
  errors: ['invalidTokenRequest', 'invalidClient', 'invalidGrant'],
  consumes: ['application/x-www-form-urlencoded', 'application/json'],
  described: { body: RevocationRequest },
  examples: {
    refresh_token: example('Sign out', {
      client_id: clientId,
      token: 'YsX1kU3b0s4mJxk7mO2c2h0G3b5H8Jv1f0n3Q9w2e8A',
    }),
  },
  replies: { 200: { description: 'The token is no longer valid' } },
  schema: { response: { 200: Type.Null() } },
} as const satisfies Operation

const field = (description: string, maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, description })

const CheckEmailForm = named('CheckEmailForm', {
  client_id: field('Application that the user signs in to', 128, 1),
  redirect_uri: field('Where the browser is redirected in the end; registered for the client', 2_048, 1),
  username: field('The e-mail address as it was typed', 254, 1),
  state: Type.Optional(field('Given back untouched', 2_048)),
  lang: Type.Optional(field('Language of the pages', 35)),
  response_type: Type.Optional(oneOf(['code'])),
  code_challenge: field('RFC 7636: base64url of the SHA-256 of the verifier', 128, 1),
  code_challenge_method: Type.Optional(oneOf(['S256'])),
})

/** Operation 2. The route validates the form itself: a browser gets a page, other callers the fail envelope. */
export const checkEmail = {
  ...operation('checkEmail', 'POST', '/v2/oauth/check-email'),
  number: 2,
  summary: 'Find the way to sign in',
  description: `Says how the domain of an e-mail address signs in: through single sign-on where its company requires it, by password otherwise.

A browser is redirected to single sign-on, or gets the login page at its password step. Any other caller gets 204 with the same next step in the header \`Location\`. The answer is the same for known and unknown users of a domain.`,
  errors: ['validation', 'invalidClient', 'invalidRedirectUri', 'tooManyRequests'],
  consumes: ['application/x-www-form-urlencoded'],
  described: { body: CheckEmailForm },
  examples: {
    password: example('Start of a sign-in', {
      client_id: clientId,
      redirect_uri: 'https://app.example.com/signed-in',
      username: 'ada@example.com',
      state: 'af0ifjsldkj',
      response_type: 'code',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    }),
  },
  replies: {
    200: { description: 'A browser, no single sign-on: the login page at its password step' },
    204: {
      description: 'Any other caller',
      headers: { Location: 'The next step: the password step or single sign-on' },
    },
    303: {
      description: 'A browser, single sign-on is required',
      headers: { Location: 'The identity provider of the company' },
    },
  },
  schema: {
    response: {
      200: Type.String({ contentMediaType: 'text/html' }),
      204: Type.Null(),
      303: Type.Null(),
    },
  },
} as const satisfies Operation
