import { type TSchema, Type } from 'typebox'
import { failEnvelope, program } from '../envelope.ts'
import { type ErrorName, type ErrorRow, errorTable } from '../errors.ts'
import { exampleOf, type SchemaLike } from './example-of.ts'
import type { Json, JsonObject, SchemaCollector } from './json-schema.ts'

/** Reason phrases of HTTP. */
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'Request timeout',
  409: 'Conflict',
  413: 'Content too large',
  414: 'Address too long',
  415: 'Unsupported media type',
  416: 'Range not satisfiable',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Internal error',
  503: 'Unavailable',
  504: 'Timeout',
  507: 'Insufficient storage',
}

function titleOf(name: ErrorName): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Failure`
}

/** Open, because the token endpoint adds the fields of RFC 6749 to every failure. */
function schemaOf(name: ErrorName, row: ErrorRow): TSchema {
  const { code: _code, error_code: _errorCode, ...common } = failEnvelope(row.data).properties
  return Type.Object(
    {
      ...common,
      code: Type.Literal(row.status),
      error_code: Type.Literal(row.errorCode),
      ...(row.oauth && {
        error: Type.Optional(Type.Literal(row.oauth, { description: 'RFC 6749, from the token endpoint' })),
        error_description: Type.Optional(Type.String({ description: '`message` in ASCII' })),
      }),
    },
    { title: titleOf(name), description: row.message },
  )
}

/** The fail envelope of a row, as a caller receives it. */
export function failureExample(row: ErrorRow, version: string): JsonObject {
  return {
    status: 'fail',
    program,
    version,
    datetime: '2026-01-31T12:00:00.000Z',
    code: row.status,
    message: row.message,
    data: exampleOf(row.data as SchemaLike) as Json,
    error_code: row.errorCode,
    ...(row.oauth && { error: row.oauth, error_description: row.message }),
  }
}

/** Responses of the failures, grouped by status; the schemas and examples they refer to are added to the components. */
export function failureResponses(
  names: readonly ErrorName[],
  components: { schemas: SchemaCollector; examples: JsonObject; version: string },
): JsonObject {
  const responses: JsonObject = {}
  for (const [status, group] of Map.groupBy(names, (name) => errorTable[name].status)) {
    const schemas = group.map((name) => components.schemas.write(schemaOf(name, errorTable[name])))
    const examples: JsonObject = {}
    for (const name of group) {
      const row = errorTable[name]
      components.examples[name] = { summary: row.message, value: failureExample(row, components.version) }
      examples[name] = { $ref: `#/components/examples/${name}` }
    }
    const codes = group.map((name) => `- \`${errorTable[name].errorCode}\` ${errorTable[name].message}`)
    const [only] = schemas
    responses[String(status)] = {
      description: `${reasons[status] ?? 'Failure'}\n\n${codes.join('\n')}`,
      ...((status === 429 || status === 503) && {
        headers: {
          'Retry-After': { description: 'Seconds to wait before another try', schema: { type: 'integer' } },
        },
      }),
      ...(status === 401 && {
        headers: {
          'WWW-Authenticate': { description: 'Always `Bearer`', schema: { type: 'string' } },
        },
      }),
      content: {
        'application/json': {
          schema: schemas.length === 1 && only ? only : { anyOf: schemas },
          examples,
        },
      },
    }
  }
  return responses
}
