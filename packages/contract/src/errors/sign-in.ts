import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { ById, Faults, Nothing, Retry } from '../failure-data.ts'
import { strict } from '../resources/formats.ts'

/** Tokens and signing in: codes 2000 to 2019. */
export const signInErrors = {
  invalidTokenRequest: {
    errorCode: 2000,
    status: 400,
    message: 'The token request is not valid',
    data: Faults,
    oauth: 'invalid_request',
  },
  unsupportedGrantType: {
    errorCode: 2001,
    status: 400,
    message: 'This grant_type is not supported: use password, refresh_token or authorization_code',
    data: Type.Object({ grantType: Type.Optional(Type.String({ examples: ['implicit'] })) }, strict),
    oauth: 'unsupported_grant_type',
  },
  unauthorizedClient: {
    errorCode: 2002,
    status: 400,
    message: 'This client may not use this grant',
    data: Nothing,
    oauth: 'unauthorized_client',
  },
  invalidGrant: {
    errorCode: 2003,
    status: 400,
    message: 'The refresh token or code is not valid or has expired',
    data: Nothing,
    oauth: 'invalid_grant',
  },
  invalidClient: {
    errorCode: 2004,
    status: 401,
    message: 'The client_id is not known',
    data: Nothing,
    oauth: 'invalid_client',
  },
  invalidCredentials: {
    errorCode: 2005,
    status: 401,
    message: 'The user name or the password is wrong',
    data: Nothing,
    oauth: 'invalid_grant',
  },
  tooManyAttempts: {
    errorCode: 2006,
    status: 429,
    message: 'Too many failed attempts, try again later',
    data: Retry,
    oauth: 'too_many_attempts',
  },
  signInUnavailable: {
    errorCode: 2007,
    status: 503,
    message: 'Sign-in is not possible at the moment, try again shortly',
    data: Retry,
    oauth: 'temporarily_unavailable',
  },
  otpRequired: {
    errorCode: 2008,
    status: 401,
    message: 'A one-time code is required: send it as x-otp-code',
    data: Nothing,
    oauth: 'otp_required',
  },
  invalidRedirectUri: {
    errorCode: 2010,
    status: 400,
    message: 'The redirect_uri is not registered for this client',
    data: Nothing,
    oauth: 'invalid_request',
  },
  authenticatorInUse: {
    errorCode: 2011,
    status: 409,
    message: 'One-time codes are turned on already: turn them off first',
    data: Nothing,
  },
  authenticatorNotOffered: {
    errorCode: 2012,
    status: 409,
    message: 'One-time codes are not turned on: ask for a secret first',
    data: Nothing,
  },
  wrongCode: {
    errorCode: 2013,
    status: 400,
    message: 'The code is wrong: send the six digits that the authenticator shows now',
    data: Nothing,
  },
  applicationNotFound: {
    errorCode: 2018,
    status: 404,
    message: 'No such application has your consent or a session with you',
    data: ById,
  },
  sessionNotFound: {
    errorCode: 2019,
    status: 404,
    message: 'You have no such session',
    data: ById,
  },
} as const satisfies Record<string, ErrorRow>
