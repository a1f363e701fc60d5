export { createClient } from './client.ts'
export type {
  Client,
  ClientOptions,
  Helpers,
  OperationBody,
  OperationData,
  OperationId,
  OperationMethod,
  OperationRequest,
  Operations,
  QueryResult,
  Reply,
  StreamOptions,
} from './client-types.ts'
export type { ErrorData, ErrorName, Fault, Query, Warning } from './contract-types.ts'
export {
  AuthenticationError,
  ConnectionError,
  MillraceError,
  RateLimitError,
  TimeoutError,
  UnavailableError,
  UnexpectedReplyError,
  ValidationError,
} from './errors.ts'
export type { DimensionValue, QueryInput, QueryRow } from './query.ts'
export type {
  AccessTokenCredentials,
  AccessTokenSource,
  Credentials,
  PasswordCredentials,
  RefreshTokenCredentials,
  Tokens,
} from './tokens.ts'
export type { CallOptions } from './transport.ts'
