import { errorTable } from '@millrace/contract/errors.ts'
import type { Method, Operation } from '@millrace/contract/operation.ts'
import { allOperations } from '@millrace/contract/operations/all.ts'

/** What the client needs to know of an operation to call it. */
export interface OperationRow {
  readonly method: Method
  /** Full path with its parameters as `:id`. */
  readonly url: string
  /** Whether it takes an access token. */
  readonly hasToken: boolean
  /** Whether it is at the collector's address. */
  readonly isOfCollector: boolean
  /** Whether sending it again has no further effect. */
  readonly isIdempotent: boolean
  /** Whether it takes an `Idempotency-Key`, which makes it idempotent. */
  readonly takesKey: boolean
  /** How its body is sent; absent where it has none. */
  readonly body?: 'json' | 'form' | 'binary'
  /** Whether its answer is an envelope, whose `data` a call gives. */
  readonly hasEnvelope: boolean
  readonly hasPages: boolean
  /** Content types that the bare result can be streamed in. */
  readonly streams: readonly string[]
  /** Whether `format=csv` has to ask for CSV. */
  readonly hasFormat: boolean
  /** Statuses that are no failures. */
  readonly statuses: readonly number[]
}

/** As far as a schema can be read without knowing its kind. */
interface Shape {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Shape>>
}

const safeMethods: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE'])

function bodyOf({ schema, described, consumes }: Operation): OperationRow['body'] {
  if (consumes?.includes('application/octet-stream')) return 'binary'
  if (!schema.body && !described?.body) return undefined
  return !consumes || consumes.includes('application/json') ? 'json' : 'form'
}

function rowOf(operation: Operation): OperationRow {
  const { schema, scope } = operation
  const answer = (schema.response[200] ?? {}) as Shape
  const query = ((schema.querystring ?? {}) as Shape).properties ?? {}
  const headers = ((schema.headers ?? {}) as Shape).properties ?? {}
  const body = bodyOf(operation)
  return {
    method: operation.method,
    url: operation.url,
    hasToken: scope === 'authenticated',
    isOfCollector: scope === 'collector',
    isIdempotent: safeMethods.has(operation.method) || operation.idempotent === true,
    takesKey: Object.hasOwn(headers, 'idempotency-key'),
    ...(body === undefined ? {} : { body }),
    hasEnvelope: answer.properties?.data !== undefined,
    hasPages: answer.properties?.paginationCount !== undefined,
    streams: Object.keys(operation.replies?.[200]?.alternatives ?? {}),
    hasFormat: Object.hasOwn(query, 'format'),
    statuses: Object.keys(schema.response)
      .map(Number)
      .filter((status) => status < 400),
  }
}

/** Every operation by its id. */
export const operationRows: Readonly<Record<string, OperationRow>> = Object.fromEntries(
  allOperations.map((operation) => [operation.id, rowOf(operation)]),
)

/** Names of failures by `<error_code>/<status>`, a pair that is unique. */
export const errorNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(errorTable).map(([name, { errorCode, status }]) => [`${errorCode}/${status}`, name]),
)
