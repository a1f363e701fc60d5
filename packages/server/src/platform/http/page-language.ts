import type { Language } from '../mail/letter.ts'

/** English unless French is asked for, by a parameter or else by the browser. */
export function languageOf(lang: string | undefined, acceptLanguage: string | undefined): Language {
  const wanted = lang || (acceptLanguage ?? '').split(',', 1)[0]
  return /^\s*fr\b/i.test(wanted ?? '') ? 'fr' : 'en'
}
