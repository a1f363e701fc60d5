import type { AttributeMapping } from '@millrace/contract/resources/sso-config.ts'
import { type Language, languageOfTag } from '../../../../platform/i18n/language.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import type { NameFormat } from './assertion-verifier.ts'
import { SamlRefusal } from './saml-refusal.ts'

/** What an assertion says about a person, in the company's mapping. There is no role and no team among it. */
export interface Claims {
  /** As links are stored: an e-mail address in lower case, anything else as it is. */
  readonly nameId: string
  readonly nameFormat: NameFormat
  /** What the identity provider calls the person whatever their name is; undefined where it says no such thing. */
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

interface Said {
  readonly nameId: string
  readonly nameFormat: NameFormat
  readonly attributes: Readonly<Record<string, readonly string[]>>
}

const prefix = 'attributes.'
const longestText = 200
const longestExternalId = 1_024

/** The different values at a path. */
function valuesAt({ nameId, attributes }: Said, path: string | undefined): string[] {
  if (path === 'nameId') return [nameId]
  const name = path?.startsWith(prefix) ? path.slice(prefix.length) : undefined
  if (name === undefined || !Object.hasOwn(attributes, name)) return []
  return [...new Set(attributes[name])]
}

/** A text for a profile; empty where what is said is no such text. */
function textAt(said: Said, path: string | undefined): string {
  const [text = ''] = valuesAt(said, path)
  return [...text].length > longestText || /[\p{Cc}\p{Cs}]/u.test(text) ? '' : text
}

/** A to Z alone: `toLowerCase` makes `k` of the Kelvin sign, and so one person's name of another's. */
export function foldName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** One value and no more: two would be two people. */
function externalIdAt(said: Said, path: string | undefined): string | undefined {
  const [value, ...more] = valuesAt(said, path)
  return value !== undefined && more.length === 0 && value.length <= longestExternalId ? value : undefined
}

/** @throws SamlRefusal `no-email` unless there is exactly one address, and it is one */
export function readClaims(said: Said, mapping: AttributeMapping): Claims {
  const [address, ...more] = valuesAt(said, mapping.email)
  const email = address === undefined || more.length > 0 ? undefined : parseEmailAddress(address)
  if (email === undefined) throw new SamlRefusal('no-email')
  return {
    nameId: said.nameFormat === 'email' ? foldName(said.nameId) : said.nameId,
    nameFormat: said.nameFormat,
    externalId: externalIdAt(said, mapping.externalId),
    email,
    firstName: textAt(said, mapping.firstName),
    lastName: textAt(said, mapping.lastName),
    jobTitle: textAt(said, mapping.jobTitle),
    phone: textAt(said, mapping.phone),
    language: languageOfTag(textAt(said, mapping.language)) ?? null,
  }
}
