import { Type } from 'typebox'
import {
  conflict,
  forbidden,
  invalid,
  notFound,
  row,
  tooLarge,
  tooMany,
  unauthenticated,
  unavailable,
} from '../error-row.ts'
import { anId, Faults, MaybeId, Nothing, SavedMeanwhile } from '../failure-data.ts'
import { like, object } from '../resources/formats.ts'

const Malformed = object({ reason: Type.Optional(like('it ends early')) })
const Forbidden = object({
  resource: Type.Optional(like('workflow')),
  action: Type.Optional(like('create')),
})
const UnknownPath = object({ method: like('GET'), path: like('/v2/statistic') })
const MethodNotAllowed = object({
  method: like('GET'),
  allowed: Type.Array(like('POST'), { minItems: 1 }),
})
const NotAcceptable = object({
  offered: Type.Array(Type.String(), { examples: [['application/json', 'text/csv']] }),
})
const UnsupportedMediaType = object({
  accepted: Type.Optional(Type.Array(Type.String(), { examples: [['application/json']] })),
})
const Internal = object({ requestId: Type.Optional(anId) })
const Timeout = object({ limitSeconds: Type.Optional(Type.Number({ examples: [30] })) })
const TooComplex = object({ limit: Type.Optional(like('32 levels')) })

/** Any operation: codes 1 to 99. */
export const generalErrors = {
  validation: invalid(1, 'The request is not valid', Faults),
  malformed: invalid(2, 'The body cannot be parsed', Malformed),
  unauthenticated: unauthenticated(
    3,
    'A valid access token is required: send the header "Authorization: Bearer <ACCESS_TOKEN>"',
  ),
  forbidden: forbidden(4, 'Your role does not allow this', Forbidden),
  notFound: notFound(5, 'There is no such object', MaybeId),
  unknownPath: notFound(6, 'There is nothing at this address', UnknownPath),
  methodNotAllowed: row(405)(7, 'This address does not answer this method', MethodNotAllowed),
  notAcceptable: row(406)(8, 'None of the accepted content types can be given', NotAcceptable),
  requestTimeout: row(408)(9, 'The request did not arrive in time', Nothing),
  conflict: conflict(10, 'This contradicts the present state', MaybeId),
  payloadTooLarge: tooLarge(11, 'The body is too large'),
  uriTooLong: row(414)(12, 'The address is too long', Nothing),
  unsupportedMediaType: row(415)(
    13,
    'The body has a content type or encoding that is not accepted here',
    UnsupportedMediaType,
  ),
  tooManyRequests: tooMany(14, 'Too many requests at once, try again shortly'),
  headersTooLarge: row(431)(15, 'The headers are too large', Nothing),
  internal: row(500)(16, 'Something went wrong on our side', Internal),
  unavailable: unavailable(17, 'The service cannot answer at the moment, try again shortly'),
  timeout: row(504)(18, 'This took longer than is allowed and was stopped', Timeout),
  tooComplex: invalid(19, 'The request asks for more than can be computed', TooComplex),
  savedMeanwhile: row(412)(22, 'It was saved meanwhile: read it again', SavedMeanwhile),
}
