import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { anId, Faults, Limit, MaybeId, Nothing, Retry, SavedMeanwhile } from '../failure-data.ts'
import { strict } from '../resources/formats.ts'

/** Any operation: codes 1 to 99. */
export const generalErrors = {
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
  savedMeanwhile: {
    errorCode: 22,
    status: 412,
    message: 'It was saved meanwhile: read it again',
    data: SavedMeanwhile,
  },
} as const satisfies Record<string, ErrorRow>
