import { type PatchStep, readPatch } from '../patch.ts'
import { ScimRefusal, shown } from '../refusal.ts'
import { isEmpty, nonEmpty, readList, readParts, readSimple, withValue } from '../schema/attribute-values.ts'
import { enterpriseSchema, userSchema } from '../schema/schemas.ts'
import { type AttributePlace, findAttribute } from '../schema/user-schema.ts'
import { readAttributes, readBoolean, readText, requireSchema } from '../schema/values.ts'
import { changeDocument, requireBounded, type UserDocument } from './user-document.ts'

/** Changes of a user; what is absent stays as it is. */
export interface UserChange {
  /** As it was sent: whether it is an address is decided by what it is for. */
  readonly userName?: string
  readonly active?: boolean
  /**
   * The document after the request.
   * @param implied values that are shown while none were sent
   * @throws ScimRefusal
   */
  readonly revise: (document: UserDocument, implied: UserDocument) => UserDocument
}

/** Names and states of the account itself. */
interface AccountChange {
  userName?: string
  active?: boolean
}

/** Accepted, so that a mapping of them is no error, and never kept. */
const ignored: ReadonlySet<string> = new Set(['password', 'schemas'])
const readOnly: ReadonlySet<string> = new Set(['id', 'meta', 'groups'])

/** @returns false for an attribute of the document */
function readAccount(change: AccountChange, name: string, value: unknown): boolean {
  if (name === 'active') change.active = readBoolean(value, 'active')
  else if (name === 'username') change.userName = requireUserName(value)
  else return false
  return true
}

function requireUserName(value: unknown): string {
  const userName = readText(value, 'userName', 254)
  if (userName === undefined) throw new ScimRefusal('invalidValue', 'userName is required')
  return userName
}

/** @throws ScimRefusal `invalidValue` for a name that no account can have */
export function notAnAddress(userName: string): ScimRefusal {
  return new ScimRefusal(
    'invalidValue',
    `userName must be an e-mail address in ASCII characters, like ada@example.com; it is ${shown(userName)}`,
  )
}

/** A whole value, as POST and PUT have it; undefined for an empty one. */
function readWhole({ root }: AttributePlace, value: unknown): unknown {
  if (root.multiValued) {
    const list = readList(root, value)
    return list.length > 0 ? list : undefined
  }
  if (root.type !== 'complex') return readSimple(root, value, root.name)
  return isEmpty(value) ? undefined : nonEmpty(readParts(root, value))
}

/** Attributes of the extension stand under its URN, or, as some send them, beside the others. */
function* namedValues(body: ReadonlyMap<string, unknown>): Generator<readonly [string, unknown]> {
  const extension = enterpriseSchema.toLowerCase()
  for (const [key, value] of body) {
    if (key !== extension) yield [key, value]
    else if (!isEmpty(value))
      for (const [part, each] of readAttributes(value, enterpriseSchema)) yield [`${extension}:${part}`, each]
  }
}

/**
 * A whole user, as POST and PUT have it: attributes that are absent are cleared, read-only and unknown ones
 * ignored. Without `active` it stays as it is.
 * @throws ScimRefusal
 */
export function readUser(body: unknown): UserChange & { readonly userName: string } {
  const attributes = readAttributes(body, 'The body', 'invalidSyntax')
  requireSchema(attributes, userSchema)
  const account: AccountChange = {}
  let core: UserDocument = {}
  let extension: UserDocument = {}
  for (const [key, value] of namedValues(attributes)) {
    if (readAccount(account, key, value)) continue
    const place = findAttribute(key)
    if (!place || place.sub) continue
    const { name } = place.root
    if (place.isExtension) extension = withValue(extension, name, readWhole(place, value))
    else core = withValue(core, name, readWhole(place, value))
  }
  const document = withValue(core, enterpriseSchema, nonEmpty(extension))
  requireBounded(document)
  const { userName, active } = account
  if (userName === undefined) throw new ScimRefusal('invalidValue', 'userName is required')
  return { userName, ...(active !== undefined && { active }), revise: () => document }
}

interface DocumentStep {
  readonly step: PatchStep
  readonly place: AttributePlace
}

/** A step about the document; undefined for one that changes nothing. */
function documentStep(step: PatchStep): DocumentStep | undefined {
  const { path, isKey } = step
  const name = path.sub === undefined ? path.name : `${path.name}.${path.sub}`
  const root = name.split('.', 1)[0] ?? name
  const place = findAttribute(name)
  if (place) return { step, place }
  if (name.startsWith('urn:') || ignored.has(root) || isKey) return undefined
  if (readOnly.has(root)) throw new ScimRefusal('mutability', `${root} is read-only`)
  throw new ScimRefusal('invalidPath', `There is no attribute ${shown(name)} of a user`)
}

/** The extension as a whole is what it holds, and to remove it is to remove each attribute of it. */
function withoutExtension({ op, path, value }: PatchStep): boolean {
  return (op === 'remove' || isEmpty(value)) && path.name === enterpriseSchema.toLowerCase()
}

/** The changes of a PATCH; the last one of an attribute holds. @throws ScimRefusal */
export function readUserPatch(body: unknown): UserChange {
  const account: AccountChange = {}
  const changes: ((document: UserDocument, implied: UserDocument) => UserDocument)[] = []
  for (const step of readPatch(body)) {
    const { path, op, value } = step
    if (!path.where && readAccount(account, path.name, op === 'remove' ? null : value)) continue
    if (withoutExtension(step)) {
      changes.push((document) => withValue(document, enterpriseSchema, undefined))
      continue
    }
    const found = documentStep(step)
    if (found) changes.push((document, implied) => changeDocument(document, found.step, found.place, implied))
  }
  return {
    ...account,
    revise(document, implied) {
      const revised = changes.reduce((before, change) => change(before, implied), document)
      requireBounded(revised)
      return revised
    },
  }
}
