import { type Static, type TSchema, Type } from 'typebox'
import {
  anId,
  ByDomain,
  ByEmail,
  ById,
  ByName,
  ByReason,
  ByRoles,
  BySource,
  ByTeams,
  ByUsers,
  Faults,
  Limit,
  MaybeId,
  Nothing,
  QueryFaults,
  Retry,
} from './failure-data.ts'
import { strict } from './resources/formats.ts'

/** One failure of the interface: `errorCode` is `error_code` of the fail envelope (interface.md, Errors). */
export interface ErrorRow {
  readonly errorCode: number
  /** HTTP status, and `code` of the fail envelope. */
  readonly status: number
  /** Default message; a case that can say more exactly what is wrong replaces it. */
  readonly message: string
  /** Shape of the fail envelope's `data`. */
  readonly data: TSchema
  /** RFC 6749's `error` where the token service answers with this row. */
  readonly oauth?: string
}

/**
 * Every failure that an operation can answer. Blocks: 1–99 general, 1000 datasources and collector,
 * 2000 accounts, sign-on and provisioning, 3000 workflows, 9000 statistics; the pair (errorCode, status)
 * is unique (decisions.md, Error codes). Codes 9000 to 9034 are known to clients as those of tag keys and
 * experiments, so that failures of queries begin at 9100.
 */
export const errorTable = {
  // General, codes 1 to 99: any operation.
  validation: { errorCode: 1, status: 400, message: 'The request is not valid', data: Faults },
  malformed: {
    errorCode: 2,
    status: 400,
    message: 'The body cannot be parsed',
    data: Type.Object({ reason: Type.Optional(Type.String({ examples: ['it ends early'] })) }, strict),
  },
  unauthenticated: {
    errorCode: 3,
    status: 401,
    message: 'A valid access token is required: send the header "Authorization: Bearer <ACCESS_TOKEN>"',
    data: Nothing,
  },
  forbidden: {
    errorCode: 4,
    status: 403,
    message: 'Your role does not allow this',
    data: Type.Object(
      {
        resource: Type.Optional(Type.String({ examples: ['workflow'] })),
        action: Type.Optional(Type.String({ examples: ['create'] })),
      },
      strict,
    ),
  },
  notFound: {
    errorCode: 5,
    status: 404,
    message: 'There is no such object',
    data: MaybeId,
  },
  unknownPath: {
    errorCode: 6,
    status: 404,
    message: 'There is nothing at this address',
    data: Type.Object(
      { method: Type.String({ examples: ['GET'] }), path: Type.String({ examples: ['/v2/statistic'] }) },
      strict,
    ),
  },
  methodNotAllowed: {
    errorCode: 7,
    status: 405,
    message: 'This address does not answer this method',
    data: Type.Object(
      {
        method: Type.String({ examples: ['GET'] }),
        allowed: Type.Array(Type.String({ examples: ['POST'] }), { minItems: 1 }),
      },
      strict,
    ),
  },
  notAcceptable: {
    errorCode: 8,
    status: 406,
    message: 'None of the accepted content types can be given',
    data: Type.Object(
      { offered: Type.Array(Type.String(), { examples: [['application/json', 'text/csv']] }) },
      strict,
    ),
  },
  requestTimeout: { errorCode: 9, status: 408, message: 'The request did not arrive in time', data: Nothing },
  conflict: {
    errorCode: 10,
    status: 409,
    message: 'This contradicts the present state',
    data: MaybeId,
  },
  payloadTooLarge: { errorCode: 11, status: 413, message: 'The body is too large', data: Limit },
  uriTooLong: { errorCode: 12, status: 414, message: 'The address is too long', data: Nothing },
  unsupportedMediaType: {
    errorCode: 13,
    status: 415,
    message: 'The body has a content type or encoding that is not accepted here',
    data: Type.Object(
      { accepted: Type.Optional(Type.Array(Type.String(), { examples: [['application/json']] })) },
      strict,
    ),
  },
  tooManyRequests: {
    errorCode: 14,
    status: 429,
    message: 'Too many requests at once, try again shortly',
    data: Retry,
  },
  headersTooLarge: { errorCode: 15, status: 431, message: 'The headers are too large', data: Nothing },
  internal: {
    errorCode: 16,
    status: 500,
    message: 'Something went wrong on our side',
    data: Type.Object({ requestId: Type.Optional(anId) }, strict),
  },
  unavailable: {
    errorCode: 17,
    status: 503,
    message: 'The service cannot answer at the moment, try again shortly',
    data: Retry,
  },
  timeout: {
    errorCode: 18,
    status: 504,
    message: 'This took longer than is allowed and was stopped',
    data: Type.Object({ limitSeconds: Type.Optional(Type.Number({ examples: [30] })) }, strict),
  },
  tooComplex: {
    errorCode: 19,
    status: 400,
    message: 'The request asks for more than can be computed',
    data: Type.Object({ limit: Type.Optional(Type.String({ examples: ['32 levels'] })) }, strict),
  },

  // 1000: datasources and the collector.
  datasourceNotFound: {
    errorCode: 1000,
    status: 404,
    message: 'No datasource matches this identifier',
    data: ById,
  },
  invalidDatasourceId: {
    errorCode: 1001,
    status: 400,
    message: 'The datasource identifier is 24 hexadecimal characters',
    data: ById,
  },
  emptyEvents: {
    errorCode: 1002,
    status: 400,
    message: 'The body is empty: send an event or an array of events',
    data: Nothing,
  },
  malformedEvents: {
    errorCode: 1003,
    status: 400,
    message: 'The body cannot be parsed as events',
    data: Type.Object(
      { reason: Type.String({ examples: ['the JSON ends early, at position 118'] }) },
      strict,
    ),
  },
  eventsTooLarge: {
    errorCode: 1004,
    status: 413,
    message: 'The body holds more than one request may carry',
    data: Limit,
  },
  eventsNotDurable: {
    errorCode: 1005,
    status: 503,
    message: 'Events cannot be made durable at the moment, send them again',
    data: Retry,
  },
  collectorOverloaded: {
    errorCode: 1006,
    status: 503,
    message: 'More events arrive than can be written, send them again later',
    data: Retry,
  },
  datasourceWithoutSource: {
    errorCode: 1010,
    status: 400,
    message: 'This datasource has no source to analyse',
    data: ById,
  },
  sourceNotReachable: {
    errorCode: 1011,
    status: 400,
    message: 'The source of this datasource cannot be reached',
    data: BySource,
  },
  sampleFailed: {
    errorCode: 1012,
    status: 400,
    message: 'Failed to get sample',
    data: BySource,
  },

  // 2000: accounts, sign-on, provisioning.
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
  userNotFound: {
    errorCode: 2020,
    status: 404,
    message: 'There is no such user in your company',
    data: ByEmail,
  },
  passwordNotUsed: {
    errorCode: 2021,
    status: 409,
    message: 'This user signs in through single sign-on only',
    data: ByEmail,
  },
  tooManyPasswordResets: {
    errorCode: 2022,
    status: 429,
    message: 'A reset was asked for too often, try again later',
    data: Retry,
  },
  lastAdministrator: {
    errorCode: 2023,
    status: 409,
    message:
      'The company would have no administrator: first give somebody else a role that may update users, roles and the company',
    data: Nothing,
  },
  userNotActive: {
    errorCode: 2024,
    status: 409,
    message: 'This user is not active',
    data: ByEmail,
  },
  userAboveOwn: {
    errorCode: 2025,
    status: 403,
    message: 'The role of this user allows more than your own',
    data: ById,
  },
  emailTaken: {
    errorCode: 2026,
    status: 409,
    message: 'There is a user with this address already; choose another address',
    data: ByEmail,
  },
  invitationNotFound: {
    errorCode: 2027,
    status: 404,
    message: 'There is no such invitation in your company',
    data: ById,
  },
  unknownUser: {
    errorCode: 2028,
    status: 400,
    message: 'There is no such user in your company',
    data: ByUsers,
  },
  invalidLink: {
    errorCode: 2029,
    status: 400,
    message: 'This link is not valid any more: it was used, replaced by a newer one, or is too old',
    data: Nothing,
  },
  linkedAccountNotFound: {
    errorCode: 2030,
    status: 404,
    message: 'There is no such linked account',
    data: ById,
  },
  linkedAccountAddress: {
    errorCode: 2031,
    status: 400,
    message: 'This address cannot be linked',
    data: ByReason,
  },
  linkedAccountTest: {
    errorCode: 2032,
    status: 400,
    message: 'The test message was not taken, so nothing was linked',
    data: ByReason,
  },
  tooManyLinkedAccounts: {
    errorCode: 2033,
    status: 409,
    message: 'You have the most linked accounts that are possible: delete one first',
    data: Type.Object({ limit: Type.Integer({ examples: [20] }) }, strict),
  },
  singleSignOnNotFound: {
    errorCode: 2040,
    status: 404,
    message: 'Your company has no single sign-on configuration',
    data: Nothing,
  },
  unusableMetadata: {
    errorCode: 2041,
    status: 400,
    message: 'The metadata of the identity provider cannot be used',
    data: Type.Object(
      { reason: Type.String({ examples: ['it holds no certificate to verify signatures with'] }) },
      strict,
    ),
  },
  singleSignOnNotProven: {
    errorCode: 2042,
    status: 409,
    message:
      'Single sign-on cannot be required yet: verify a domain, then sign in once through the identity provider as it is configured now',
    data: Nothing,
  },
  domainNotFound: {
    errorCode: 2043,
    status: 404,
    message: 'Your company has no such domain',
    data: ById,
  },
  domainTaken: {
    errorCode: 2044,
    status: 409,
    message: 'This domain belongs to a company already',
    data: ByDomain,
  },
  domainNotVerified: {
    errorCode: 2045,
    status: 409,
    message: 'The TXT record that shows the domain is yours was not found',
    data: Type.Object(
      {
        domain: Type.String({ examples: ['example.com'] }),
        recordName: Type.String({ examples: ['_millrace-challenge.example.com'] }),
        recordValue: Type.String({ examples: ['millrace-domain-verification=Vd7p0m9S3m0c1Yw6u0F8'] }),
        reason: Type.String({ examples: ['there is no such record'] }),
      },
      strict,
    ),
  },
  tooManyDomains: {
    errorCode: 2046,
    status: 409,
    message: 'Your company has as many domains as it may have: remove one first',
    data: Type.Object({ most: Type.Number({ examples: [50] }) }, strict),
  },
  certificateNotFound: {
    errorCode: 2047,
    status: 404,
    message: 'Your company has no such certificate',
    data: ById,
  },
  certificateInUse: {
    errorCode: 2048,
    status: 409,
    message: 'This is the only certificate: make another one first',
    data: ById,
  },
  tooManyCertificates: {
    errorCode: 2049,
    status: 409,
    message: 'There are two certificates already: retire the older one first',
    data: Nothing,
  },
  unknownRole: {
    errorCode: 2050,
    status: 400,
    message: 'There is no such role in your company',
    data: ByRoles,
  },
  roleAboveOwn: {
    errorCode: 2051,
    status: 403,
    message: 'You cannot give a role that allows more than your own',
    data: ByRoles,
  },
  unknownTeam: {
    errorCode: 2052,
    status: 400,
    message: 'There is no such team in your company',
    data: ByTeams,
  },
  notInTeam: {
    errorCode: 2053,
    status: 403,
    message: 'You are not a member of this team',
    data: ByTeams,
  },
  roleNotFound: {
    errorCode: 2054,
    status: 404,
    message: 'There is no such role in your company',
    data: ById,
  },
  roleNameTaken: {
    errorCode: 2055,
    status: 409,
    message: 'Your company has a role with this name already',
    data: ByName,
  },
  builtInRole: {
    errorCode: 2056,
    status: 409,
    message: 'A built-in role cannot be changed or deleted; make a role of your own',
    data: ById,
  },
  roleInUse: {
    errorCode: 2057,
    status: 409,
    message: 'This role is in use; give its users another role first',
    data: Type.Object(
      {
        id: anId,
        users: Type.Integer({ description: 'How many people hold it', examples: [3] }),
        settings: Type.Array(Type.String({ examples: ['the default role of the company'] })),
      },
      strict,
    ),
  },
  permissionAboveOwn: {
    errorCode: 2058,
    status: 403,
    message: 'You cannot give or take a permission that you do not have',
    data: Type.Object(
      { permissions: Type.Array(Type.String({ examples: ['user:delete'] }), { minItems: 1 }) },
      strict,
    ),
  },
  tooManyScimTokens: {
    errorCode: 2060,
    status: 409,
    message: 'Two tokens are active already: revoke one of them first',
    data: Nothing,
  },
  scimTokenNotFound: {
    errorCode: 2061,
    status: 404,
    message: 'There is no such token of the identity provider',
    data: ById,
  },
  groupSyncOff: {
    errorCode: 2062,
    status: 501,
    message: 'Groups are not synchronised: turn groupSync on in the provisioning configuration',
    data: Nothing,
  },
  userIdNotFound: {
    errorCode: 2070,
    status: 404,
    message: 'There is no such user in your company',
    data: ById,
  },
  teamNotFound: {
    errorCode: 2071,
    status: 404,
    message: 'There is no such team in your company',
    data: ById,
  },
  teamNameTaken: {
    errorCode: 2072,
    status: 409,
    message: 'Your company has a team with this name already',
    data: ByName,
  },
  teamCycle: {
    errorCode: 2073,
    status: 409,
    message: 'A team cannot be below itself: a team named as its parent is the team or stands below it',
    data: ByTeams,
  },
  teamInUse: {
    errorCode: 2074,
    status: 409,
    message: 'This team has teams below it or resources; move or delete them first',
    data: Type.Object(
      {
        id: anId,
        children: Type.Integer({ description: 'Teams right below it', examples: [1] }),
        resources: Type.Integer({ description: 'Resources that belong to it', examples: [4] }),
      },
      strict,
    ),
  },
  defaultTeam: {
    errorCode: 2075,
    status: 409,
    message: 'The default team cannot be deleted: it takes the people who are put into no other',
    data: ById,
  },
  memberWithoutTeam: {
    errorCode: 2076,
    status: 409,
    message: 'Somebody would be in no team at all; put them into another team first',
    data: ByUsers,
  },
  wrongPassword: {
    errorCode: 2077,
    status: 403,
    message: 'The present password is wrong',
    data: Nothing,
  },
  provisionedTeam: {
    errorCode: 2078,
    status: 409,
    message: 'The identity provider keeps this team: change its name and members there',
    data: ByTeams,
  },
  singleSignOnNotOffered: {
    errorCode: 2090,
    status: 404,
    message: 'There is no single sign-on here',
    data: Nothing,
  },
  singleSignOnRefused: {
    errorCode: 2091,
    status: 403,
    message: 'Signing in has failed; your administrator finds the reason in the audit log',
    data: Type.Object({ reference: anId }, strict),
  },
  missingSamlResponse: {
    errorCode: 2092,
    status: 400,
    message: 'The form must hold the field SAMLResponse once',
    data: Nothing,
  },
  tooManySamlResponses: {
    errorCode: 2093,
    status: 429,
    message: 'Too many sign-ins come from this address at once, try again shortly',
    data: Retry,
  },

  // 3000: workflows.
  workflowNotFound: { errorCode: 3000, status: 404, message: 'There is no such workflow', data: ById },

  // 9000: statistics.
  experimentNotFound: { errorCode: 9000, status: 404, message: 'Unable to find experiment', data: ById },
  tagKeyNameTaken: {
    errorCode: 9001,
    status: 409,
    message: 'A tag key with this name already exists',
    data: ByName,
  },
  tagKeyNotFound: { errorCode: 9002, status: 404, message: 'There is no such tag key', data: ById },
  tagValueNotFound: {
    errorCode: 9003,
    status: 404,
    message: 'There is no such value of this tag key',
    data: ById,
  },
  tagValueInUse: {
    errorCode: 9040,
    status: 409,
    message: 'A running experiment uses this tag value',
    data: Type.Object({ id: anId, experimentIds: Type.Array(anId, { minItems: 1 }) }, strict),
  },
  unknownMember: {
    errorCode: 9100,
    status: 400,
    message: 'The query names a member that does not exist',
    data: QueryFaults,
  },
  incompatibleMembers: {
    errorCode: 9101,
    status: 400,
    message: 'The query names members that do not fit together',
    data: QueryFaults,
  },
  virtualMeasureFilter: {
    errorCode: 9102,
    status: 400,
    message: 'A virtual measure cannot be filtered: it is computed from other measures after aggregation',
    data: QueryFaults,
  },
  invalidQuery: {
    errorCode: 9103,
    status: 400,
    message: 'The query cannot be answered as it is written',
    data: QueryFaults,
  },
  savedQueryNotFound: {
    errorCode: 9200,
    status: 404,
    message: 'There is no such saved query',
    data: ById,
  },
  invalidSchedule: {
    errorCode: 9201,
    status: 400,
    message: 'The schedule is not valid',
    data: Faults,
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorName = keyof typeof errorTable

/** Shape of `data` of one row. */
export type ErrorData<N extends ErrorName> = Static<(typeof errorTable)[N]['data']>
