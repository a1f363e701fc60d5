import { type AttributePath, isCoreSchema, parsePath, withoutCoreSchema } from './filter/filter.ts'
import { ScimRefusal, shown } from './refusal.ts'
import { enterpriseSchema, patchSchema } from './schema/schemas.ts'
import { readAttributes, requireSchema } from './schema/values.ts'

/** One attribute that a PATCH changes. */
export interface PatchStep {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: AttributePath
  readonly value: unknown
  /** Named by a key of an object and not by `path`: what is not known there is ignored, as in a whole resource. */
  readonly isKey: boolean
}

/** Of one request, and of attributes in those without a path together. */
const maxOperations = 1_000
/** Of one operation without a path; users and groups have far fewer attributes. */
const maxKeys = 100
const operations: ReadonlySet<string> = new Set(['add', 'replace', 'remove'])

/** A key of an object that is no path names nothing that is known here; only brackets need the whole grammar. */
function pathOfKey(key: string): AttributePath {
  if (!key.includes('[')) return { name: withoutCoreSchema(key.trim().toLowerCase()) }
  try {
    return parsePath(key)
  } catch {
    return { name: key.toLowerCase() }
  }
}

/** The name of the extension stands for all attributes of it. */
function isWholeExtension(path: string): boolean {
  return path.trim().toLowerCase() === enterpriseSchema.toLowerCase()
}

/** Attributes that stand under the name of their schema are those of the object itself, or of the extension. */
function entriesOf(value: unknown, what: string): (readonly [key: string, value: unknown])[] {
  readAttributes(value, what)
  return Object.entries(value as object).flatMap(([key, each]): [string, unknown][] => {
    const isExtension = isWholeExtension(key)
    if ((!isCoreSchema(key) && !isExtension) || (isExtension && each === null)) return [[key, each]]
    readAttributes(each, `${what}, ${key}`)
    const entries = Object.entries(each as object)
    return isExtension ? entries.map(([name, part]) => [`${key}:${name}`, part]) : entries
  })
}

function stepsOf(operation: unknown, index: number): PatchStep[] {
  const what = `Operations[${index}]`
  const fields = readAttributes(operation, what, 'invalidSyntax')
  const wanted = fields.get('op')
  const op = typeof wanted === 'string' ? wanted.toLowerCase() : ''
  if (!operations.has(op))
    throw new ScimRefusal(
      'invalidSyntax',
      `${what}.op must be add, replace or remove, it is ${shown(wanted)}`,
    )
  const step = { op: op as PatchStep['op'], value: fields.get('value') }
  const path = fields.get('path') ?? ''
  if (typeof path !== 'string')
    throw new ScimRefusal('invalidPath', `${what}.path must be a text, it is ${shown(path)}`)
  if (path !== '') {
    if (step.op !== 'remove' && !fields.has('value'))
      throw new ScimRefusal('invalidValue', `${what}.value is required for ${step.op}`)
    if (step.op === 'remove' || !isWholeExtension(path))
      return [{ ...step, path: parsePath(path), isKey: false }]
  }
  if (path === '' && step.op === 'remove')
    throw new ScimRefusal('noTarget', `${what}.path is required: it says what to remove`)
  const entries = entriesOf(
    path === '' ? step.value : { [path.trim()]: step.value },
    path === '' ? `${what}.value without a path` : `${what}.value`,
  )
  if (entries.length > maxKeys)
    throw new ScimRefusal(
      'invalidValue',
      `${what}.value may name at most ${maxKeys} attributes, it names ${entries.length}`,
    )
  return entries.map(([key, value]) => ({ op: step.op, path: pathOfKey(key), value, isKey: true }))
}

/**
 * The changes of a PATCH (RFC 7644 3.5.2), in their order, in the forms that identity providers send: names and
 * operators in any case, an object of attributes in place of a path, keys that are paths.
 * @throws ScimRefusal
 */
export function readPatch(body: unknown): PatchStep[] {
  const fields = readAttributes(body, 'The body', 'invalidSyntax')
  requireSchema(fields, patchSchema)
  const list = fields.get('operations')
  if (!Array.isArray(list) || list.length === 0)
    throw new ScimRefusal('invalidSyntax', 'Operations must be a list of at least one operation')
  if (list.length > maxOperations)
    throw new ScimRefusal('invalidValue', `Operations may hold at most ${maxOperations} operations`)
  const steps: PatchStep[] = []
  for (const [index, operation] of list.entries()) {
    steps.push(...stepsOf(operation, index))
    if (steps.length > maxOperations)
      throw new ScimRefusal('invalidValue', `Operations may name at most ${maxOperations} attributes`)
  }
  return steps
}
