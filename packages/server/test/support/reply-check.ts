import { FailEnvelope } from '@millrace/contract/envelope.ts'
import { type ErrorName, type ErrorRow, errorTable } from '@millrace/contract/errors.ts'
import type { Operation } from '@millrace/contract/operation.ts'
import { errorsOf } from '@millrace/contract/operation-errors.ts'
import { allOperations } from '@millrace/contract/operations/all.ts'
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import addFormatsModule from 'ajv-formats'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { keepBody } from './kept-body.ts'
import { scimSchemas, scimUrl } from './scim-reply-schemas.ts'

// The package is CommonJS: under Node's rules its default export is the module object.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default
const ajv = new Ajv({ strict: false, allErrors: true })
addFormats(ajv)

const compiled = new Map<object, ValidateFunction>()

/** What is wrong with a value by a schema; nothing when it conforms. */
function faultsOf(schema: object, value: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema as AnySchema)
  compiled.set(schema, validate)
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
  )
}

/** A reply as it went out. */
export interface SentReply {
  readonly status: number
  readonly contentType: string
  /** Undefined where it was too long to be kept. */
  readonly body: string | undefined
}

const operations = new Map(allOperations.map((each) => [`${each.method} ${each.url}`, each]))

/** Replies of the token service carry RFC 6749's fields beside those of the fail envelope. */
const speaksOAuth: ReadonlySet<string> = new Set(['createToken', 'revokeToken'])
const OAuthFailure = Type.Object(
  {
    ...FailEnvelope.properties,
    error: Type.String({ pattern: '^[a-z_]+$' }),
    error_description: Type.String({ pattern: '^[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]*$' }),
  },
  { additionalProperties: false },
)

function parse(body: string | undefined): unknown {
  if (body === undefined) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Before an operation answers: a request that is not framed well, and an operation that is not routed yet. */
const ofAnyRequest: ReadonlySet<string> = new Set<ErrorName>(['malformed', 'unknownPath'])

function faultsOfFailure(operation: Operation, { status, contentType, body }: SentReply): string[] {
  const isOAuth = speaksOAuth.has(operation.id)
  if (operation.scope === 'open' && !isOAuth && contentType.startsWith('text/html')) return []
  if (!contentType.startsWith('application/json')) return [`the failure is ${contentType}`]
  const envelope = parse(body) as FailEnvelope
  const faults = faultsOf(isOAuth ? OAuthFailure : FailEnvelope, envelope)
  if (faults.length > 0) return faults
  if (envelope.code !== status) faults.push(`code is ${envelope.code}`)
  const rows: [string, ErrorRow][] = Object.entries(errorTable)
  const [name, row] =
    rows.find(([, each]) => each.errorCode === envelope.error_code && each.status === status) ?? []
  if (name === undefined || row === undefined)
    return [...faults, `no row of the error table has error_code ${envelope.error_code}`]
  if (!ofAnyRequest.has(name) && !errorsOf(operation).some((each) => each === name))
    faults.push(`the operation does not list the failure ${name}`)
  return [...faults, ...faultsOf(row.data, envelope.data)]
}

const isNull = (schema: TSchema): boolean => (schema as { type?: unknown }).type === 'null'

function faultsOfSuccess(operation: Operation, { status, contentType, body }: SentReply): string[] {
  const schema = operation.schema.response[status]
  if (schema === undefined) return ['the operation does not describe this status']
  if (isNull(schema)) return body === '' ? [] : ['the body is not empty']
  const [type = ''] = contentType.split(';')
  const { contentMediaType = 'application/json' } = schema as { contentMediaType?: string }
  if (Object.hasOwn(operation.replies?.[status]?.alternatives ?? {}, type)) return []
  if (type !== contentMediaType) return [`the content type is ${contentType}`]
  if (body === undefined) return []
  return faultsOf(schema, contentMediaType === 'application/json' ? parse(body) : body)
}

function faultsOfScim(method: string, url: string, { status, contentType, body }: SentReply): string[] {
  if (status === 204) return body === '' ? [] : ['the body is not empty']
  const faults = contentType === 'application/scim+json; charset=utf-8' ? [] : [`it is ${contentType}`]
  if (body === undefined) return faults
  const value = parse(body) as { status?: string }
  if (status >= 400) {
    if (value.status !== String(status)) faults.push(`status is ${value.status}`)
    return [...faults, ...faultsOf(scimSchemas.failure, value)]
  }
  if (status !== (method === 'POST' ? 201 : 200)) faults.push(`the status is ${status}`)
  const schema = scimSchemas.success(method, url.slice(scimUrl.length))
  return schema ? [...faults, ...faultsOf(schema, value)] : [...faults, 'nothing describes the reply']
}

/** What is wrong with the reply of a route by the schemas of its operation; nothing for other routes. */
function faultsOfReply(method: string, url: string, sent: SentReply): string[] {
  return faults(method, url, sent).map((fault) => `${method} ${url} answered ${sent.status}: ${fault}`)
}

function faults(method: string, url: string, sent: SentReply): string[] {
  const operation = operations.get(`${method} ${url}`)
  if (operation) {
    const isDescribed = Object.hasOwn(operation.schema.response, sent.status)
    return sent.status >= 400 && !isDescribed
      ? faultsOfFailure(operation, sent)
      : faultsOfSuccess(operation, sent)
  }
  return url.startsWith(scimUrl) && method !== 'HEAD' ? faultsOfScim(method, url, sent) : []
}

/** What is wrong with a reply that was received from somewhere: nothing where no operation has its path. */
export function faultsOfReceived(method: string, path: string, received: SentReply): string[] {
  const url = patternOf(method, path.split('?', 1)[0] ?? path)
  return url === undefined ? [] : faultsOfReply(method, url, received)
}

const matchers = [...operations.values()].map(({ method, url }) => ({
  method,
  url,
  path: new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`),
}))

/** The pattern with the fewest parameters that takes a path. */
function patternOf(method: string, path: string): string | undefined {
  if (path.startsWith(scimUrl)) return path.replace(/^(\/v2\/scim\/v2\/\w+)\/[^/]+$/, '$1/:id')
  return matchers
    .filter((each) => each.method === method && each.path.test(path))
    .toSorted((a, b) => a.url.split(':').length - b.url.split(':').length)[0]?.url
}

/** Reports what is wrong with a reply once all of it was sent. */
export function watchReply(
  { method, routeOptions: { url } }: FastifyRequest,
  reply: FastifyReply,
  report: (violation: string) => void,
): void {
  if (url === undefined || (!operations.has(`${method} ${url}`) && !url.startsWith(scimUrl))) return
  const { raw } = reply
  const body = keepBody()
  let isEnded = false
  const keep = (chunk: unknown): void => {
    if (!isEnded && (typeof chunk === 'string' || chunk instanceof Uint8Array)) body.add(chunk)
  }
  const { write, end, writeHead } = raw
  /** Of a head that is written in one piece: Node keeps none of its headers. */
  let written: Readonly<Record<string, unknown>> = {}
  raw.writeHead = (...parts: unknown[]) => {
    const [headers = {}] = parts.filter((part) => typeof part === 'object') as object[]
    written = Array.isArray(headers)
      ? Object.fromEntries(
          Array.from({ length: headers.length / 2 }, (_, i) => headers.slice(2 * i, 2 * i + 2)),
        )
      : { ...headers }
    return Reflect.apply(writeHead, raw, parts)
  }
  raw.write = (...parts: unknown[]) => {
    keep(parts[0])
    return Reflect.apply(write, raw, parts)
  }
  raw.end = (...parts: unknown[]) => {
    keep(parts[0])
    isEnded = true
    return Reflect.apply(end, raw, parts)
  }
  raw.once('finish', () => {
    const contentType = String(reply.getHeader('content-type') ?? written['content-type'] ?? '')
    const coding = String(reply.getHeader('content-encoding') ?? '')
    const sent = { status: raw.statusCode, contentType, body: body.text(coding) }
    for (const fault of faultsOfReply(method, url, sent)) report(fault)
  })
}
