import { ScimRefusal, shown } from '../refusal.ts'

/** Attributes by their names in lower case (RFC 7643 2.1: names are equal whatever their case). */
export type Attributes = ReadonlyMap<string, unknown>

/** @throws ScimRefusal of the given kind when the value is no object */
export function readAttributes(
  value: unknown,
  what: string,
  kind: 'invalidSyntax' | 'invalidValue' = 'invalidValue',
): Attributes {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new ScimRefusal(kind, `${what} must be an object, it is ${shown(value)}`)
  return new Map(Object.entries(value).map(([name, each]) => [name.toLowerCase(), each]))
}

/** A body that names schemas must name this one. @throws ScimRefusal `invalidSyntax` */
export function requireSchema(body: Attributes, schema: string): void {
  const schemas = body.get('schemas')
  if (schemas === undefined) return
  const names = [schemas].flat()
  if (!names.some((name) => typeof name === 'string' && name.toLowerCase() === schema.toLowerCase()))
    throw new ScimRefusal('invalidSyntax', `schemas must name ${schema}`)
}

/** Some senders wrap the value of a plain attribute: `[{ "value": x }]`. */
export function unwrapped(value: unknown): unknown {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (one !== null && typeof one === 'object' && Object.hasOwn(one, 'value'))
    return (one as { value: unknown }).value
  return one
}

const unprintable = /[\p{Cc}\p{Cs}]/u

/** A line of text; undefined for an empty one, for null and for what is absent. @throws ScimRefusal `invalidValue` */
export function readText(value: unknown, name: string, maximumLength = 200): string | undefined {
  const text = unwrapped(value)
  if (text === undefined || text === null || text === '') return undefined
  if (Array.isArray(text) && text.length === 0) return undefined
  if (typeof text !== 'string')
    throw new ScimRefusal('invalidValue', `${name} must be a text, it is ${shown(text)}`)
  if (unprintable.test(text))
    throw new ScimRefusal('invalidValue', `${name} must be one line without control characters`)
  if ([...text].length > maximumLength)
    throw new ScimRefusal('invalidValue', `${name} must have at most ${maximumLength} characters`)
  return text
}

/** True and false, as texts too: Entra ID sends "True" and "False". @throws ScimRefusal `invalidValue` */
export function readBoolean(value: unknown, name: string): boolean {
  const one = unwrapped(value)
  if (typeof one === 'boolean') return one
  const text = typeof one === 'string' ? one.toLowerCase() : ''
  if (text === 'true' || text === 'false') return text === 'true'
  throw new ScimRefusal('invalidValue', `${name} must be true or false, it is ${shown(one)}`)
}
