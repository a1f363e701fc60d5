import { languages } from '@millrace/contract/languages.ts'

export type Language = (typeof languages)[number]

/** Texts of one place in every language: one that is missing does not compile. */
export type Catalogue<Texts> = Readonly<Record<Language, Texts>>

/** A sentence for users, in every language. */
export type LocalizedText = Catalogue<string>

export const fallbackLanguage = 'en' satisfies Language

const known = new RegExp(`^(?:${languages.join('|')})(?![a-z0-9])`, 'i')

/** The language that a tag such as `fr-CA` names, with or without a region; undefined for others. */
export function languageOfTag(tag: string): Language | undefined {
  const [found = ''] = known.exec(tag.trim()) ?? []
  return languages.find((language) => language === found.toLowerCase())
}

/**
 * The language of an answer: that of a tag which was asked for, else the first of `Accept-Language`, else the
 * fallback.
 */
export function negotiateLanguage(tag: string | undefined, acceptLanguage: string | undefined): Language {
  return languageOfTag(tag || (acceptLanguage ?? '').split(',', 1)[0] || '') ?? fallbackLanguage
}
