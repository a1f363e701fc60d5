import { DomainError } from '../errors.ts'
import type { LocalizedText } from '../i18n/language.ts'
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
  unknown: (known: readonly string[]): LocalizedText => ({
    en: `is not known; known are ${known.join(', ')}`,
    fr: `est inconnu ; sont connus ${known.join(', ')}`,
  }),
  mustBe: (value: string): LocalizedText => ({ en: `must be ${value}`, fr: `doit être ${value}` }),
  tooLong: (max: number): LocalizedText => ({
    en: `must have at most ${max} characters`,
    fr: `doit compter au plus ${max} caractères`,
  }),
  tooManyFields: (max: number): LocalizedText => ({
    en: `must have at most ${max} fields`,
    fr: `doit compter au plus ${max} champs`,
  }),
} as const satisfies Readonly<Record<string, LocalizedText | ((...parameters: never[]) => LocalizedText)>>

/** In place of a name, where it is the whole body that is wrong. */
export const wholeBody = 'the body'

/** The refusal of a value that a page does not take, by its name. */
export function pageFault(path: string, { en, fr }: LocalizedText): DomainError {
  const name = shownPath(path)
  const message = { en: `${name} ${en}`, fr: `${path === wholeBody ? 'le formulaire' : name} ${fr}` }
  return new DomainError('validation', { errors: [{ path: name, message: en }] }, { message })
}
