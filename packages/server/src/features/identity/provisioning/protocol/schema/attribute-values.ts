import { ScimRefusal, shown } from '../refusal.ts'
import type { Attribute } from './attribute.ts'
import { findSubAttribute } from './user-schema.ts'
import { readAttributes, readBoolean, readText, unwrapped } from './values.ts'

/** One of several values, or the parts of one; names are as the schema has them. */
export type Parts = Readonly<Record<string, unknown>>

/** Of one attribute. */
const maxValues = 100

/** What accounts have too: one line of at most so many characters. */
const lines: ReadonlyMap<string, number> = new Map([
  ['externalId', 512],
  ['name.givenName', 200],
  ['name.familyName', 200],
  ['title', 200],
  ['preferredLanguage', 200],
  ['emails.value', 254],
  ['phoneNumbers.value', 64],
])

/** The object with another value; without it where the value is undefined. */
export function withValue(object: Parts, name: string, value: unknown): Parts {
  const { [name]: _, ...rest } = object
  return value === undefined ? rest : { ...rest, [name]: value }
}

/** A text of any length; numbers come from senders whose directories have them. */
function readAnyText(value: unknown, name: string): string | undefined {
  const text = unwrapped(value)
  if (text === undefined || text === null || text === '') return undefined
  if (Array.isArray(text) && text.length === 0) return undefined
  if (typeof text === 'string') return text
  if (typeof text === 'number' || typeof text === 'boolean') return String(text)
  throw new ScimRefusal('invalidValue', `${name} must be a text, it is ${shown(text)}`)
}

/** Undefined for what is empty. @throws ScimRefusal `invalidValue` */
export function readSimple({ type }: Attribute, value: unknown, name: string): string | boolean | undefined {
  if (type === 'boolean')
    return value === null || value === undefined || value === '' ? undefined : readBoolean(value, name)
  const longest = lines.get(name)
  return longest === undefined ? readAnyText(value, name) : readText(value, name, longest)
}

/** What is given of the parts; undefined for those that are emptied. What is not known is ignored. */
export function readParts(attribute: Attribute, value: unknown): Parts {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (typeof one === 'string' && findSubAttribute(attribute, 'value')) return { value: one }
  const parts: Record<string, unknown> = {}
  for (const [key, each] of readAttributes(one, attribute.name)) {
    const sub = findSubAttribute(attribute, key)
    if (sub) parts[sub.name] = readSimple(sub, each, `${attribute.name}.${sub.name}`)
  }
  return parts
}

/** Without parts that are empty; undefined when all are. */
export function nonEmpty(parts: Parts): Parts | undefined {
  const kept = Object.entries(parts).filter(([, value]) => value !== undefined)
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

/** Several values; without the empty ones. @throws ScimRefusal `invalidValue` */
export function readList(attribute: Attribute, value: unknown): Parts[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const given = list.filter((each) => !isEmpty(each))
  requireFew(attribute.name, given.length)
  return given.map((each) => nonEmpty(readElement(attribute, each))).filter((each) => each !== undefined)
}

function readElement(attribute: Attribute, value: unknown): Parts {
  const { name } = attribute
  const sub = findSubAttribute(attribute, 'value')
  if (sub && typeof value === 'string') return { value: readSimple(sub, value, `${name}.value`) }
  return readParts(attribute, value)
}

export const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === ''

/** @throws ScimRefusal `invalidValue` */
export function requireFew(name: string, count: number): void {
  if (count > maxValues)
    throw new ScimRefusal('invalidValue', `${name} may have at most ${maxValues} values, it has ${count}`)
}
