import { patternMeanings } from '@millrace/contract/resources/formats.ts'
import { unsupportedKeyword } from '@millrace/contract/resources/query.ts'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormatsModule from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { DomainError } from '../errors.ts'
import { isObject } from '../plain-object.ts'
import { nearestName } from '../text/nearest.ts'
import { faultOfText } from '../text/stored-text.ts'

type Schema = { properties?: Record<string, unknown>; [keyword: string]: unknown }
type Fault = { readonly path: string; readonly message: string }

// The package is CommonJS: under Node's rules its default export is the module object.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

function createAjv({ allErrors }: { allErrors: boolean }): Ajv {
  const ajv = new Ajv({
    strict: false,
    allErrors,
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

/** `items`, `0` and `name` from `/items/0/name`. */
function fieldPartsOf(instancePath: string): string[] {
  const parts = instancePath.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** `items.0.name` from `/items/0/name`. */
const fieldPathOf = (instancePath: string): string => fieldPartsOf(instancePath).join('.')

const joinPath = (...parts: readonly string[]): string => parts.filter((each) => each !== '').join('.')

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
    const path = joinPath(fieldPathOf(instancePath), name)
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
      const typed = typedInsteadOf(error)
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

/** The unknown name that was probably meant to be the one that is missing. */
const typedInsteadOf = (error: ErrorObject): string | undefined =>
  nearestName(String(error.params.missingProperty), unknownNames(error))

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
  const union = errors.find(isUnion)
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

function faultOfQueryText(name: string, value: unknown): Fault | undefined {
  for (const text of [name, value].flat()) {
    const message = typeof text === 'string' ? faultOfText(text) : undefined
    if (message !== undefined) return { path: name, message }
  }
  return undefined
}

/** Reads the parameters of a query in place, each by its schema. */
function readQuery(query: Record<string, unknown>, { properties = {} }: Schema): Fault | undefined {
  for (const [name, value] of Object.entries(query)) {
    const fault = faultOfQueryText(name, value)
    if (fault) return fault
    const schema = Object.hasOwn(properties, name) ? (properties[name] as Schema) : undefined
    if (schema && schema.type !== 'array' && Array.isArray(value)) {
      return { path: name, message: `may be sent once; it is sent ${value.length} times` }
    }
    query[name] = readQueryValue(value, schema)
  }
  return undefined
}

/** The fault of a query under the name of its parameter, with which of its values is wrong where it has several. */
function describeParameter(error: ErrorObject, query: Record<string, unknown>): Fault {
  const fault = describe(error, 'querystring')
  const [name, place] = fieldPartsOf(error.instancePath)
  if (name === undefined || place === undefined) return fault
  const count = [query[name]].flat().length
  const which = count > 1 ? `; this is value ${Number(place) + 1} of ${count}` : ''
  return { path: name, message: `${fault.message}${which}` }
}

/** One for all servers of the process: it remembers the schemas that it has compiled. */
const ajv = createAjv({ allErrors: false })
const thoroughAjv = createAjv({ allErrors: true })

/**
 * Fastify's validator: strict types, one clear error, unknown names refused with the nearest known one. A schema is
 * compiled by its first request: most routes are not asked soon, and the start would wait for all of them.
 */
export const compileValidator: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) => {
  const part = httpPart ?? 'body'
  return (data: unknown) => {
    const query = part === 'querystring' && isObject(data) ? data : undefined
    const unread = query && readQuery(query, schema)
    if (unread) return { error: validationError([unread]) }
    const validate: ValidateFunction = ajv.compile(schema)
    if (validate(data)) return { value: data }
    const error = mostSpecificError(validate.errors ?? [])
    const described = error && (query ? describeParameter(error, query) : describe(error, part))
    return { error: validationError([described ?? { path: names[part] ?? part, message: 'is not valid' }]) }
  }
}

/** The first fault of a value by a schema, for a part of a body whose schema depends on what it holds. */
export function faultOfShape(schema: object, value: unknown): Fault | undefined {
  const validate: ValidateFunction = ajv.compile(schema)
  if (validate(value)) return undefined
  const error = mostSpecificError(validate.errors ?? [])
  return error ? describe(error, '') : { path: '', message: 'is not valid' }
}

/** Values that a value may hold of which all faults are listed: each can have several, and all are made at once. */
const maxThoroughValues = 5_000

function holdsMoreThan(max: number, value: unknown): boolean {
  let count = 0
  const open = [value]
  while (open.length > 0) {
    if (++count > max) return true
    const next = open.pop()
    if (next !== null && typeof next === 'object') for (const each of Object.values(next)) open.push(each)
  }
  return false
}

/** Without the errors within unions, of which the union itself is left. They stand right before it. */
function outsideUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const outside: ErrorObject[] = []
  let union: ErrorObject | undefined
  for (const error of errors.toReversed()) {
    const isWithin =
      union !== undefined &&
      error.schemaPath.startsWith(`${union.schemaPath}/`) &&
      error.instancePath.startsWith(union.instancePath)
    if (isWithin) continue
    outside.push(error)
    union = isUnion(error) ? error : undefined
  }
  return outside.reverse()
}

const isUnion = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf'

/** What its most specific branch says. */
function faultOfUnion({ parentSchema = {}, data, instancePath }: ErrorObject): Fault {
  const { path, message } = faultOfShape(parentSchema, data) ?? { path: '', message: 'is not valid' }
  return { path: joinPath(fieldPathOf(instancePath), path), message }
}

/**
 * Faults of a value by a schema, one for each place and at most `max`; the first is that of `faultOfShape`. Of a value
 * that holds very many values it is the only one.
 */
export function faultsOfShape(schema: object, value: unknown, max: number): Fault[] {
  const first = faultOfShape(schema, value)
  if (!first) return []
  if (max <= 1 || holdsMoreThan(maxThoroughValues, value)) return [first]
  const validate: ValidateFunction = thoroughAjv.compile(schema)
  validate(value)
  const faults = new Map([[first.path, first]])
  /** Unknown names that the fault of a missing one names already. */
  const explained = new Set<string>()
  for (const error of outsideUnions(validate.errors ?? [])) {
    if (faults.size === max) break
    const fault = isUnion(error) ? faultOfUnion(error) : describe(error, '')
    const typed = error.keyword === 'required' ? typedInsteadOf(error) : undefined
    if (typed !== undefined) explained.add(joinPath(fieldPathOf(error.instancePath), typed))
    if (!explained.has(fault.path) && !faults.has(fault.path)) faults.set(fault.path, fault)
  }
  return [...faults.values()]
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
