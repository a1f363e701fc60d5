import { Type } from 'typebox'
import { conflict, invalid, notFound, tooMany, unauthenticated, unavailable } from '../error-row.ts'
import { Faults, Nothing } from '../failure-data.ts'
import { like, object } from '../resources/formats.ts'

const UnsupportedGrantType = object({ grantType: Type.Optional(like('implicit')) })

/** Tokens and signing in: codes 2000 to 2019. */
export const signInErrors = {
  invalidTokenRequest: {
    ...invalid(2000, 'The token request is not valid', Faults),
    oauth: 'invalid_request',
  },
  unsupportedGrantType: {
    ...invalid(
      2001,
      'This grant_type is not supported: use password, refresh_token or authorization_code',
      UnsupportedGrantType,
    ),
    oauth: 'unsupported_grant_type',
  },
  unauthorizedClient: {
    ...invalid(2002, 'This client may not use this grant'),
    oauth: 'unauthorized_client',
  },
  invalidGrant: {
    ...invalid(2003, 'The refresh token or code is not valid or has expired'),
    oauth: 'invalid_grant',
  },
  invalidClient: { ...unauthenticated(2004, 'The client_id is not known'), oauth: 'invalid_client' },
  invalidCredentials: {
    ...unauthenticated(2005, 'The user name or the password is wrong'),
    oauth: 'invalid_grant',
  },
  tooManyAttempts: {
    ...tooMany(2006, 'Too many failed attempts, try again later'),
    oauth: 'too_many_attempts',
  },
  signInUnavailable: {
    ...unavailable(2007, 'Sign-in is not possible at the moment, try again shortly'),
    oauth: 'temporarily_unavailable',
  },
  otpRequired: {
    ...unauthenticated(2008, 'A one-time code is required: send it as x-otp-code'),
    oauth: 'otp_required',
  },
  invalidRedirectUri: {
    ...invalid(2010, 'The redirect_uri is not registered for this client'),
    oauth: 'invalid_request',
  },
  authenticatorInUse: conflict(2011, 'One-time codes are turned on already: turn them off first', Nothing),
  authenticatorNotOffered: conflict(
    2012,
    'One-time codes are not turned on: ask for a secret first',
    Nothing,
  ),
  wrongCode: invalid(2013, 'The code is wrong: send the six digits that the authenticator shows now'),
  applicationNotFound: notFound(2018, 'No such application has your consent or a session with you'),
  sessionNotFound: notFound(2019, 'You have no such session'),
}
