import type { AttributeMapping } from '@millrace/contract/resources/sso-config.ts'
import { parseEmailAddress } from '../../platform/email-address.ts'
import { SamlRefusal } from './saml-refusal.ts'

/** What an assertion says about a person, in the company's mapping. There is no role and no team among it. */
export interface Claims {
  readonly nameId: string
  /** As `parseEmailAddress` gives it. */
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly jobTitle: string
  readonly phone: string
  /** Null where it is neither of ours. */
  readonly language: 'en' | 'fr' | null
}

interface Said {
  readonly nameId: string
  readonly attributes: Readonly<Record<string, readonly string[]>>
}

const prefix = 'attributes.'
const longestText = 200

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

function languageOf(text: string): 'en' | 'fr' | null {
  const [tag = ''] = text.toLowerCase().split(/[-_]/)
  return tag === 'en' || tag === 'fr' ? tag : null
}

/** @throws SamlRefusal `no-email` unless there is exactly one address, and it is one */
export function readClaims(said: Said, mapping: AttributeMapping): Claims {
  const [address, ...more] = valuesAt(said, mapping.email)
  const email = address === undefined || more.length > 0 ? undefined : parseEmailAddress(address)
  if (email === undefined) throw new SamlRefusal('no-email')
  return {
    nameId: said.nameId,
    email,
    firstName: textAt(said, mapping.firstName),
    lastName: textAt(said, mapping.lastName),
    jobTitle: textAt(said, mapping.jobTitle),
    phone: textAt(said, mapping.phone),
    language: languageOf(textAt(said, mapping.language)),
  }
}
