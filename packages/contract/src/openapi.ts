import type { TSchema } from 'typebox'
import { exampleOf, type SchemaLike } from './openapi/example-of.ts'
import { failureResponses } from './openapi/failures.ts'
import { introduction } from './openapi/introduction.ts'
import { type Json, type JsonObject, SchemaCollector } from './openapi/json-schema.ts'
import { type Operation, tags } from './operation.ts'
import { errorsOf } from './operation-errors.ts'
import { describePermission } from './permissions.ts'

export interface OpenApiOptions {
  /** Released version of the server. */
  readonly version: string
  /** Base of the interface, ending in `/v2`, without a trailing slash. */
  readonly baseUrl: string
  /** Base of the collector, without a trailing slash. */
  readonly collectorUrl: string
}

interface Components {
  readonly schemas: SchemaCollector
  readonly examples: JsonObject
  readonly version: string
}

/**
 * The OpenAPI 3.1 document of these operations (pass those that are routed). Paths are relative to
 * `{base_url}`; an operation outside it names its own server.
 */
export function openApiDocument(operations: readonly Operation[], options: OpenApiOptions) {
  const { version, baseUrl, collectorUrl } = options
  const components: Components = { schemas: new SchemaCollector(), examples: {}, version }
  const paths: Record<string, JsonObject> = {}
  for (const operation of operations) {
    const { path, server } = addressOf(operation, options)
    const item = paths[path] ?? {}
    if (server !== undefined) item.servers = [{ url: server }]
    item[operation.method.toLowerCase()] = operationObject(operation, components)
    paths[path] = item
  }
  const used = new Set(operations.map(({ tag }) => tag))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      summary: 'Events in, statistics and personalised content out',
      description: introduction(options),
      version,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl, description: `The interface; events go to ${collectorUrl}` }],
    tags: Object.entries(tags).flatMap(([name, description]) =>
      used.has(name as Operation['tag']) ? [{ name, description }] : [],
    ),
    paths,
    components: {
      schemas: Object.fromEntries(components.schemas.components),
      examples: components.examples,
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          description: 'The access token is sent as `Authorization: Bearer <ACCESS_TOKEN>`.',
          flows: {
            password: { tokenUrl: `${baseUrl}/auth/token`, refreshUrl: `${baseUrl}/auth/token`, scopes: {} },
          },
        },
      },
    },
  }
}

function addressOf(operation: Operation, { baseUrl, collectorUrl }: OpenApiOptions) {
  const path = operation.url.replaceAll(/:(\w+)/g, '{$1}')
  if (operation.scope === 'collector') return { path, server: collectorUrl }
  if (path.startsWith('/v2/')) return { path: path.slice('/v2'.length), server: undefined }
  return { path, server: baseUrl.replace(/\/v2$/, '') }
}

/** Who may call; undefined for operations without a token. */
export function accessOf({ access, permission }: Operation): string | undefined {
  return access ?? (permission && describePermission(permission))
}

function operationObject(operation: Operation, components: Components): JsonObject {
  const access = accessOf(operation)
  const description = [operation.description, access && `Needs the permission **${access}**.`]
    .filter(Boolean)
    .join('\n\n')
  const parameters = parametersOf(operation, components.schemas)
  const body = operation.schema.body ?? operation.described?.body
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(description && { description }),
    security: operation.scope === 'authenticated' ? [{ oauth2: [] }] : [],
    ...(operation.number === undefined
      ? { 'x-millrace-extension': true }
      : { 'x-millrace-number': operation.number }),
    ...(access && { 'x-millrace-permission': access }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(operation, body, components.schemas) }),
    responses: { ...repliesOf(operation, components), ...failureResponses(errorsOf(operation), components) },
  }
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

function parametersOf({ schema, described }: Operation, schemas: SchemaCollector): Json[] {
  const places = [
    ['path', schema.params ?? described?.params],
    ['query', schema.querystring],
    ['header', schema.headers],
  ] as const
  return places.flatMap(([place, object]) => {
    const { properties = {}, required = [] } = (object ?? {}) as ObjectSchema
    return Object.entries(properties).map(([name, property]) => {
      const { description, ...rest } = schemas.write(property)
      return {
        name,
        in: place,
        required: place === 'path' || required.includes(name),
        ...(description !== undefined && { description }),
        schema: rest,
      }
    })
  })
}

function requestBody(operation: Operation, body: TSchema, schemas: SchemaCollector): JsonObject {
  const schema = schemas.write(body)
  const examples = JSON.parse(JSON.stringify(operation.examples ?? {})) as JsonObject
  const content: JsonObject = {}
  for (const type of operation.consumes ?? ['application/json']) {
    content[type] = { schema, ...(type === 'application/json' && { examples }) }
  }
  return { required: true, content }
}

function repliesOf(operation: Operation, components: Components): JsonObject {
  const responses: JsonObject = {}
  for (const [status, schema] of Object.entries(operation.schema.response)) {
    const document = operation.replies?.[Number(status)]
    const headers = Object.entries(document?.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ])
    responses[status] = {
      description: document?.description ?? 'Success',
      ...(headers.length > 0 && { headers: Object.fromEntries(headers) as JsonObject }),
      ...(!isNull(schema) && { content: replyContent(operation, Number(status), schema, components) }),
    }
  }
  return responses
}

function isNull(schema: TSchema): boolean {
  return 'type' in schema && schema.type === 'null'
}

function replyContent(
  operation: Operation,
  status: number,
  schema: TSchema,
  components: Components,
): JsonObject {
  const document = operation.replies?.[status]
  const media = 'contentMediaType' in schema ? String(schema.contentMediaType) : undefined
  if (media !== undefined) return { [media]: { schema: { type: 'string' } } }
  const content: JsonObject = {
    'application/json': {
      schema: components.schemas.write(schema),
      examples: successExamples(operation, status, schema, components.version),
    },
  }
  for (const [type, { description, example }] of Object.entries(document?.alternatives ?? {})) {
    content[type] = { schema: { type: 'string', description }, example }
  }
  return content
}

/**
 * Examples of a reply in full: the operation's own, put into the envelope where the reply has one, or one
 * made from the schema.
 */
export function successExamples(
  operation: Operation,
  status: number,
  schema: TSchema,
  version: string,
): JsonObject {
  const whole = exampleOf(schema as SchemaLike) as JsonObject
  if ('program' in whole) whole.version = version
  const own = Object.entries(operation.replies?.[status]?.examples ?? {})
  if (own.length === 0) return { example: { summary: 'Example', value: whole } }
  return Object.fromEntries(
    own.map(([name, { summary, value }]) => {
      const plain = JSON.parse(JSON.stringify(value)) as Json
      return [name, { summary, value: 'program' in whole ? { ...whole, data: plain } : plain }]
    }),
  )
}
