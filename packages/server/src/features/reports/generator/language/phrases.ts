import type { Catalogue, Language } from '../../../../platform/i18n/language.ts'
import { english, type Phrases } from './english.ts'
import { french } from './french.ts'

const phrases: Catalogue<Phrases> = { en: english, fr: french }

export function phrasesOf(locale: Language): Phrases {
  return phrases[locale]
}
