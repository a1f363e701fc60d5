import { parseEmailAddress } from '../../../platform/email-address.ts'
import { type PatchStep, readPatch } from './patch.ts'
import type { AttributePath, Comparison } from './path.ts'
import { ScimRefusal, shown } from './refusal.ts'
import { userSchema } from './schemas.ts'
import { readAttributes, readBoolean, readText, requireSchema } from './values.ts'

/** What the identity provider keeps of a person, as accounts have it. */
export interface UserFields {
  readonly externalId: string | null
  readonly firstName: string
  readonly lastName: string
  readonly jobTitle: string
  readonly phone: string
  /** Null follows the company. */
  readonly language: 'en' | 'fr' | null
}

/** What a request says about a person; what is absent stays as it is. */
export interface UserChange {
  /** Lower case, as accounts have it. */
  readonly userName?: string
  readonly active?: boolean
  readonly fields: Partial<UserFields>
}

/** What one attribute says. */
type Said = Omit<UserChange, 'fields'> & Partial<UserFields>

const nothing: Said = {}
const cleared: UserFields = {
  externalId: null,
  firstName: '',
  lastName: '',
  jobTitle: '',
  phone: '',
  language: null,
}

function readUserName(value: unknown): Said {
  const text = readText(value, 'userName', 254)
  const userName = text === undefined ? undefined : parseEmailAddress(text)
  if (userName === undefined)
    throw new ScimRefusal(
      'invalidValue',
      `userName must be an e-mail address in ASCII characters, like ada@example.com; it is ${shown(text ?? null)}`,
    )
  return { userName }
}

function readName(value: unknown): Said {
  if (value === null || value === undefined || value === '') return { firstName: '', lastName: '' }
  const parts = readAttributes(value, 'name')
  return {
    ...(parts.has('givenname') && { firstName: readText(parts.get('givenname'), 'name.givenName') ?? '' }),
    ...(parts.has('familyname') && { lastName: readText(parts.get('familyname'), 'name.familyName') ?? '' }),
  }
}

/** Languages of the service; another one is passed over. */
function readLanguage(value: unknown): Said {
  const text = readText(value, 'preferredLanguage')
  if (text === undefined) return { language: null }
  const language = /^(en|fr)(?![A-Za-z0-9])/i.exec(text)?.[1]?.toLowerCase() as 'en' | 'fr' | undefined
  return language ? { language } : nothing
}

/** Of several values the first one is kept. */
function readPhone(value: unknown): Said {
  const first = Array.isArray(value) ? value[0] : value
  const number =
    typeof first === 'object' && first !== null ? readAttributes(first, 'phoneNumbers') : undefined
  return { phone: readText(number ? number.get('value') : first, 'phoneNumbers.value', 64) ?? '' }
}

/** The address is `userName`; these are judged by their form and not kept. */
function readEmails(value: unknown): Said {
  for (const each of [value ?? []].flat()) {
    const address = typeof each === 'string' ? each : readAttributes(each, 'emails').get('value')
    readText(address, 'emails.value', 254)
  }
  return nothing
}

const readers: ReadonlyMap<string, (value: unknown) => Said> = new Map<string, (value: unknown) => Said>([
  ['username', readUserName],
  ['externalid', (value) => ({ externalId: readText(value, 'externalId', 512) ?? null })],
  ['active', (value) => ({ active: readBoolean(value, 'active') })],
  ['name', readName],
  ['name.givenname', (value) => ({ firstName: readText(value, 'name.givenName') ?? '' })],
  ['name.familyname', (value) => ({ lastName: readText(value, 'name.familyName') ?? '' })],
  ['title', (value) => ({ jobTitle: readText(value, 'title') ?? '' })],
  ['preferredlanguage', readLanguage],
  ['phonenumbers', readPhone],
  ['phonenumbers.value', readPhone],
  ['emails', readEmails],
  ['emails.value', readEmails],
])

/**
 * Attributes of RFC 7643 4.1, and of 4.3 without the URN of the extension, that accounts do not have: accepted, so
 * that a mapping of them stops no one.
 */
const passedOver: ReadonlySet<string> = new Set([
  ...['displayname', 'nickname', 'profileurl', 'usertype', 'locale', 'timezone', 'password', 'addresses'],
  ...['ims', 'photos', 'entitlements', 'roles', 'x509certificates', 'schemas'],
  ...['employeenumber', 'costcenter', 'organization', 'division', 'department', 'manager'],
])
const passedOverParts: ReadonlySet<string> = new Set([
  ...['name.formatted', 'name.middlename', 'name.honorificprefix', 'name.honorificsuffix'],
  ...['emails.type', 'emails.primary', 'emails.display'],
  ...['phonenumbers.type', 'phonenumbers.primary', 'phonenumbers.display'],
])
const readOnly: ReadonlySet<string> = new Set(['id', 'meta', 'groups'])

/** Accounts have one number, which is shown as that of the work. */
function isKept({ name, value }: Comparison): boolean {
  if (name === 'type') return String(value).toLowerCase() === 'work'
  return name === 'primary' && value === true
}

function nameOf({ name, sub }: AttributePath): string {
  return sub === undefined ? name : `${name}.${sub}`
}

function sayStep({ op, path, value, isKey }: PatchStep): Said {
  const name = nameOf(path)
  const root = name.split('.', 1)[0] ?? name
  if (name.startsWith('urn:') || passedOver.has(root) || passedOverParts.has(name)) return nothing
  if (readOnly.has(root)) {
    if (isKey) return nothing
    throw new ScimRefusal('mutability', `${root} is read-only`)
  }
  const read = readers.get(name)
  if (!read || (path.where && root !== 'emails' && root !== 'phonenumbers')) {
    if (isKey) return nothing
    throw new ScimRefusal('invalidPath', `There is no attribute ${shown(name)} of a user`)
  }
  if (path.where && !isKept(path.where)) return nothing
  return read(op === 'remove' ? null : value)
}

function collect(said: readonly Said[], fields: Partial<UserFields>): UserChange {
  const { userName, active, ...rest } = Object.assign({}, ...said) as Said
  return {
    ...(userName !== undefined && { userName }),
    ...(active !== undefined && { active }),
    fields: { ...fields, ...rest },
  }
}

/**
 * A whole user, as POST and PUT have it: attributes that are absent are cleared, read-only and unknown ones
 * passed over. Without `active` nothing is said about it.
 * @throws ScimRefusal
 */
export function readUser(body: unknown): UserChange & { readonly userName: string } {
  const attributes = readAttributes(body, 'The body', 'invalidSyntax')
  requireSchema(attributes, userSchema)
  const said = [...attributes].map(([key, value]) =>
    sayStep({ op: 'replace', path: { name: key }, value, isKey: true }),
  )
  const change = collect(said, cleared)
  if (change.userName === undefined) throw new ScimRefusal('invalidValue', 'userName is required')
  return { ...change, userName: change.userName }
}

/** The changes of a PATCH; the last one of an attribute holds. @throws ScimRefusal */
export function readUserPatch(body: unknown): UserChange {
  return collect(readPatch(body).map(sayStep), {})
}
