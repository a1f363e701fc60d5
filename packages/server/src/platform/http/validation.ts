import { patternMeanings } from '@millrace/contract/resources/formats.ts'
import { unsupportedKeyword } from '@millrace/contract/resources/query.ts'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormatsModule from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { DomainError } from '../errors.ts'
import { nearestName } from '../text/nearest.ts'
import { faultOfText } from '../text/stored-text.ts'

type Schema = { properties?: Record<string, unknown>; [keyword: string]: unknown }
type Fault = { readonly path: string; readonly message: string }

// The package is CommonJS: under Node's rules its default export is the module object.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

function createAjv(): Ajv {
  const ajv = new Ajv({
    strict: false,
    allErrors: false,
    useDefaults: true,
    coerceTypes: false,
    removeAdditional: false,
    verbose: true,
  })
  addFormats(ajv)
  const { validate } = ajv.formats['date-time'] as { validate: (text: string) => boolean }
  // RFC 3339 knows leap seconds and JavaScript's dates do not.
  ajv.addFormat('date-time', (text: string) => validate(text) && !Number.isNaN(Date.parse(text)))
  return ajv
}

const formatMeanings: ReadonlyMap<string, string> = new Map([
  ['date-time', 'must be an instant, as 2026-01-31T12:00:00Z'],
])

/** `items.0.name` from `/items/0/name`. */
function fieldPathOf(instancePath: string): string {
  const parts = instancePath.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

const names: Record<string, string> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the path',
  headers: 'the headers',
}

/** ` it is "x"` after a message, and nothing where the value is a secret. */
function asGiven({ data, parentSchema }: ErrorObject, separator: string): string {
  return parentSchema?.writeOnly === true ? '' : `${separator} it is ${shown(data)}`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

/** What a caller may send: fields that are only read back are accepted and not advertised. */
function writableNames(schema: Schema | undefined): string[] {
  const entries = Object.entries((schema?.properties ?? {}) as Record<string, { readOnly?: boolean }>)
  return entries.filter(([, property]) => property.readOnly !== true).map(([name]) => name)
}

/** Names that a schema knows of another dialect and does not support. */
function unsupportedBy(schema: Schema | undefined): readonly unknown[] {
  const listed = schema?.[unsupportedKeyword]
  return Array.isArray(listed) ? listed : []
}

function unsupported(what: string, supported: unknown): string {
  return `${what}is not supported here; supported are ${[supported].flat().join(', ')}`
}

/**
 * The first name in an object that its schema knows and does not support, as a field or as a word of one. It says
 * more than what the object lacks or has beside it.
 */
function faultOfUnsupported({ data, parentSchema, instancePath }: ErrorObject): Fault | undefined {
  if (data === null || typeof data !== 'object') return undefined
  const schema = parentSchema as Schema | undefined
  for (const [name, value] of Object.entries(data)) {
    const property = schema?.properties?.[name] as Schema | undefined
    const path = [fieldPathOf(instancePath), name].filter((each) => each !== '').join('.')
    if (unsupportedBy(schema).includes(name)) return { path, message: unsupported('', writableNames(schema)) }
    if (unsupportedBy(property).includes(value)) {
      return { path, message: unsupported(`${shown(value)} `, property?.enum) }
    }
  }
  return undefined
}

/** Types of JSON as a message names them. */
const typeNames: ReadonlyMap<string, string> = new Map([
  ['array', 'a list'],
  ['boolean', 'true or false'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['object', 'an object'],
  ['string', 'a text'],
])

function describe(error: ErrorObject, part: string): Fault {
  const fault = faultOfUnsupported(error)
  if (fault) return fault
  const path = fieldPathOf(error.instancePath)
  const here = path || names[part] || part
  const parameters = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required': {
      const missing = String(parameters.missingProperty)
      const typed = nearestName(missing, unknownNames(error))
      return {
        path: path ? `${path}.${missing}` : missing,
        message: typed === undefined ? 'is required' : `is required; ${shown(typed)} is not known`,
      }
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const unknown = String(parameters.additionalProperty ?? parameters.unevaluatedProperty)
      const known = writableNames(error.parentSchema as Schema | undefined)
      const nearest = nearestName(unknown, known)
      const hint = nearest
        ? `did you mean "${nearest}"?`
        : known.length > 0
          ? `known are ${known.join(', ')}`
          : 'none is expected here'
      return { path: path ? `${path}.${unknown}` : unknown, message: `is not known; ${hint}` }
    }
    case 'enum': {
      const allowed = parameters.allowedValues as unknown[]
      if (unsupportedBy(error.parentSchema as Schema | undefined).includes(error.data)) {
        return { path: here, message: unsupported(`${shown(error.data)} `, allowed) }
      }
      const nearest =
        typeof error.data === 'string' ? nearestName(error.data, allowed.map(String)) : undefined
      const hint = nearest === undefined ? '' : `; did you mean ${shown(nearest)}?`
      return { path: here, message: `must be one of ${allowed.map(shown).join(', ')}${hint}` }
    }
    case 'const':
      return { path: here, message: `must be ${shown(parameters.allowedValue)}` }
    case 'type': {
      const wanted = [parameters.type]
        .flat()
        .map((type) => typeNames.get(String(type)) ?? type)
        .join(' or ')
      // Fastify hands over null where there is no body at all.
      const isAbsentBody = part === 'body' && path === '' && error.data === null
      return {
        path: here,
        message: `must be ${wanted}${isAbsentBody ? ', it is null or missing' : asGiven(error, ',')}`,
      }
    }
    case 'format': {
      const meaning = formatMeanings.get(String(parameters.format))
      return {
        path: here,
        message: meaning ? `${meaning}${asGiven(error, ';')}` : (error.message ?? 'is not valid'),
      }
    }
    case 'pattern': {
      const meaning = patternMeanings.get(String(parameters.pattern))
      return {
        path: here,
        message: meaning ? `${meaning}${asGiven(error, ';')}` : (error.message ?? 'is not valid'),
      }
    }
    default:
      return { path: here, message: boundOf(error) ?? error.message ?? 'is not valid' }
  }
}

/** Names in an object that its schema does not know, where it takes no others. */
function unknownNames({ data, parentSchema }: ErrorObject): string[] {
  const { properties = {}, additionalProperties, unevaluatedProperties } = (parentSchema ?? {}) as Schema
  if (additionalProperties !== false && unevaluatedProperties !== false) return []
  return Object.keys((data ?? {}) as object).filter((name) => !Object.hasOwn(properties, name))
}

/** What is counted of a value, by the keyword that bounds it. */
const counted: ReadonlyMap<string, readonly [one: string, many: string]> = new Map([
  ['Length', ['character', 'characters']],
  ['Items', ['item', 'items']],
  ['Properties', ['field', 'fields']],
])

/** A bound of a number or of a size that is not kept, after "must". */
function boundOf(error: ErrorObject): string | undefined {
  const { keyword, params, data } = error
  const limit = Number(params.limit)
  switch (keyword) {
    case 'minimum':
      return `must be at least ${limit}${asGiven(error, ';')}`
    case 'maximum':
      return `must be at most ${limit}${asGiven(error, ';')}`
    case 'exclusiveMinimum':
      return `must be more than ${limit}${asGiven(error, ';')}`
    case 'exclusiveMaximum':
      return `must be less than ${limit}${asGiven(error, ';')}`
    case 'uniqueItems':
      return `must have no duplicates; items ${Math.min(params.i, params.j)} and ${Math.max(params.i, params.j)} are the same`
  }
  const [, bound, what] = /^(min|max)(Length|Items|Properties)$/.exec(keyword) ?? []
  const words = what === undefined ? undefined : counted.get(what)
  if (words === undefined) return undefined
  if (bound === 'min' && limit === 1) return 'must not be empty'
  const size = typeof data === 'string' ? [...data].length : Object.keys((data ?? {}) as object).length
  return `must have at ${bound === 'min' ? 'least' : 'most'} ${limit} ${words[limit === 1 ? 0 : 1]}; it has ${size}`
}

/** Of a failed union, the branch that came furthest says best what is wrong; the union itself says least. */
function mostSpecificError(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const constants = errors.filter((error) => error.keyword === 'const')
  const union = errors.find((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf')
  if (union && constants.length > 1 && constants.length === errors.length - 1) {
    const allowedValues = constants.map((error) => (error.params as { allowedValue: unknown }).allowedValue)
    return { ...union, keyword: 'enum', params: { allowedValues } }
  }
  const inner = errors.filter((error) => error !== union)
  return (
    inner.reduce<ErrorObject | undefined>(
      (best, error) =>
        best === undefined || error.instancePath.split('/').length > best.instancePath.split('/').length
          ? error
          : best,
      undefined,
    ) ?? union
  )
}

/** Texts of the query become numbers and booleans by one strict spelling each; everything else stays as it was sent. */
function readQueryValue(value: unknown, schema: Schema | undefined): unknown {
  if (schema?.type === 'array') {
    const items = Array.isArray(value) ? value : [value]
    return items.map((item) => readQueryValue(item, schema.items as Schema | undefined))
  }
  if (typeof value !== 'string') return value
  if ((schema?.type === 'integer' || schema?.type === 'number') && /^-?(0|[1-9]\d{0,14})$/.test(value))
    return Number(value)
  if (schema?.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

function faultOfQuery(name: string, value: unknown): Fault | undefined {
  for (const text of [name, value].flat()) {
    const message = typeof text === 'string' ? faultOfText(text) : undefined
    if (message !== undefined) return { path: name, message }
  }
  return undefined
}

/** One for all servers of the process: it remembers the schemas that it has compiled. */
const ajv = createAjv()

/**
 * Fastify's validator: strict types, one clear error, unknown names refused with the nearest known one. A schema is
 * compiled by its first request: most routes are not asked soon, and the start would wait for all of them.
 */
export const compileValidator: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) => {
  const part = httpPart ?? 'body'
  return (data: unknown) => {
    if (part === 'querystring' && data !== null && typeof data === 'object') {
      const query = data as Record<string, unknown>
      for (const [name, value] of Object.entries(query)) {
        const fault = faultOfQuery(name, value)
        if (fault) return { error: validationError([fault]) }
        query[name] = readQueryValue(value, schema.properties?.[name] as Schema | undefined)
      }
    }
    const validate: ValidateFunction = ajv.compile(schema)
    if (validate(data)) return { value: data }
    const error = mostSpecificError(validate.errors ?? [])
    const fault = error ? describe(error, part) : { path: names[part] ?? part, message: 'is not valid' }
    return { error: validationError([fault]) }
  }
}

/** The first fault of a value by a schema, for a part of a body whose schema depends on what it holds. */
export function faultOfShape(schema: object, value: unknown): Fault | undefined {
  const validate: ValidateFunction = ajv.compile(schema)
  if (validate(value)) return undefined
  const error = mostSpecificError(validate.errors ?? [])
  return error ? describe(error, '') : { path: '', message: 'is not valid' }
}

/** A path holds names that a caller chose, of any length. */
const maxPathLength = 200

/** The path of a fault, not longer than one reads. */
export const shownPath = (path: string): string =>
  path.length > maxPathLength ? `${path.slice(0, maxPathLength)}...` : path

/** The one form of a validation failure: `message` names the first fault in plain words (docs/interface.md, Envelope). */
export function validationError(faults: readonly Fault[]): DomainError {
  const errors = faults.map(({ path, message }) => ({ path: shownPath(path), message }))
  const [first] = errors
  return new DomainError('validation', { errors }, first ? { message: `${first.path} ${first.message}` } : {})
}
