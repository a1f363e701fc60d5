import { DomainError, type Said } from '../errors.ts'
import { shownPath } from './validation.ts'

/** What can be wrong with a field of a form or a parameter of an address, after its name. */
export const faults = {
  required: { en: 'is required', fr: 'est obligatoire' },
  twice: { en: 'is given twice; send it once', fr: 'est donné deux fois ; ne l’envoyez qu’une fois' },
  notText: { en: 'must be well-formed text', fr: 'doit être un texte bien formé' },
  notEncoded: { en: 'must be percent-encoded UTF-8', fr: 'doit être de l’UTF-8 encodé en pourcent' },
  notEncodedText: {
    en: 'must be percent-encoded UTF-8 without the character U+0000',
    fr: 'doit être de l’UTF-8 encodé en pourcent, sans le caractère U+0000',
  },
  notAnAddress: {
    en: 'must be an e-mail address, like ada@example.com',
    fr: 'doit être une adresse e-mail, comme ada@example.com',
  },
  noChallenge: {
    en: 'is required: base64url of the SHA-256 of the verifier',
    fr: 'est obligatoire : le SHA-256 du vérificateur en base64url',
  },
  badChallenge: {
    en: 'must be the 43 characters of base64url of a SHA-256',
    fr: 'doit être un SHA-256 en base64url, de 43 caractères',
  },
  badScope: {
    en: 'must be words of visible ASCII with one space between them; leave it out, there are no scopes',
    fr: 'doit être des mots en ASCII visible séparés d’un espace ; omettez-le, il n’y a pas de scopes',
  },
  domainOrCompany: {
    en: 'or company is required, and not both',
    fr: 'ou company est obligatoire, et pas les deux',
  },
  unknown: (known: readonly string[]): Said => ({
    en: `is not known; known are ${known.join(', ')}`,
    fr: `est inconnu ; sont connus ${known.join(', ')}`,
  }),
  mustBe: (value: string): Said => ({ en: `must be ${value}`, fr: `doit être ${value}` }),
  tooLong: (most: number): Said => ({
    en: `must have at most ${most} characters`,
    fr: `doit compter au plus ${most} caractères`,
  }),
  tooManyFields: (most: number): Said => ({
    en: `must have at most ${most} fields`,
    fr: `doit compter au plus ${most} champs`,
  }),
} as const satisfies Readonly<Record<string, Said | ((...parameters: never[]) => Said)>>

/** In place of a name, where it is the whole body that is wrong. */
export const wholeBody = 'the body'

/** The refusal of a value that a page does not take, by its name. */
export function pageFault(path: string, { en, fr }: Said): DomainError {
  const name = shownPath(path)
  const message = { en: `${name} ${en}`, fr: `${path === wholeBody ? 'le formulaire' : name} ${fr}` }
  return new DomainError('validation', { errors: [{ path: name, message: en }] }, { message })
}
