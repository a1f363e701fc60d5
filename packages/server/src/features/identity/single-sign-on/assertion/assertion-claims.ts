import type { AttributeMapping } from '@millrace/contract/resources/sso-config.ts'
import { type Language, languageOfTag } from '../../../../platform/i18n/language.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import type { NameFormat } from './assertion-verifier.ts'
import { SamlRefusal } from './saml-refusal.ts'

/** Claims about a user by the company's mapping; roles and teams are never among them. */
export interface Claims {
  /** As links are stored: an e-mail address in lower case, anything else as it is. */
  readonly nameId: string
  readonly nameFormat: NameFormat
  /** The identity provider's own identifier of the user, which no change of name affects; undefined without one. */
  readonly externalId: string | undefined
  /** As `parseEmailAddress` gives it. */
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly jobTitle: string
  readonly phone: string
  /** Null where it is neither of ours. */
  readonly language: Language | null
}

interface AssertionContent {
  readonly nameId: string
  readonly nameFormat: NameFormat
  readonly attributes: Readonly<Record<string, readonly string[]>>
}

const prefix = 'attributes.'
const maxTextLength = 200
const maxExternalIdLength = 1_024

/** The different values at a path. */
function valuesAt({ nameId, attributes }: AssertionContent, path: string | undefined): string[] {
  if (path === 'nameId') return [nameId]
  const name = path?.startsWith(prefix) ? path.slice(prefix.length) : undefined
  if (name === undefined || !Object.hasOwn(attributes, name)) return []
  return [...new Set(attributes[name])]
}

/** A text for a profile; empty where the value is no such text. */
function textAt(content: AssertionContent, path: string | undefined): string {
  const [text = ''] = valuesAt(content, path)
  return [...text].length > maxTextLength || /[\p{Cc}\p{Cs}]/u.test(text) ? '' : text
}

/** A to Z alone: `toLowerCase` makes `k` of the Kelvin sign, and so one user's name of another's. */
export function foldName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** One value and no more: two would be two users. */
function externalIdAt(content: AssertionContent, path: string | undefined): string | undefined {
  const [value, ...more] = valuesAt(content, path)
  return value !== undefined && more.length === 0 && value.length <= maxExternalIdLength ? value : undefined
}

/** @throws SamlRefusal `no-email` unless there is exactly one address, and it is one */
export function readClaims(content: AssertionContent, mapping: AttributeMapping): Claims {
  const [address, ...more] = valuesAt(content, mapping.email)
  const email = address === undefined || more.length > 0 ? undefined : parseEmailAddress(address)
  if (email === undefined) throw new SamlRefusal('no-email')
  return {
    nameId: content.nameFormat === 'email' ? foldName(content.nameId) : content.nameId,
    nameFormat: content.nameFormat,
    externalId: externalIdAt(content, mapping.externalId),
    email,
    firstName: textAt(content, mapping.firstName),
    lastName: textAt(content, mapping.lastName),
    jobTitle: textAt(content, mapping.jobTitle),
    phone: textAt(content, mapping.phone),
    language: languageOfTag(textAt(content, mapping.language)) ?? null,
  }
}
