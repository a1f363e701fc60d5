import { createContext, use } from 'react'

export type Language = 'en' | 'fr'

/** Texts of a screen in each language: the compiler asks for the same keys in both. */
export interface Texts<T> {
  readonly en: T
  readonly fr: T
}

type Widened<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : { readonly [K in keyof T]: Widened<T[K]> }

export const texts = <const T>(en: T, fr: Widened<T>): Texts<Widened<T>> => ({ en: en as Widened<T>, fr })

export const LanguageContext = createContext<Language>('en')

export const useLanguage = (): Language => use(LanguageContext)

/** The texts of a screen in the language of the user. */
export const useTexts = <T>(both: Texts<T>): T => both[useLanguage()]

/** The first supported one of the browser's languages. */
export function languageOfBrowser(): Language {
  const known = navigator.languages.map((each) => each.slice(0, 2).toLowerCase())
  return known.find((each): each is Language => each === 'en' || each === 'fr') ?? 'en'
}

const rules = { en: new Intl.PluralRules('en'), fr: new Intl.PluralRules('fr') }

/** One or many, by the rules of the language: French has one of 0 and 1.5. */
export const plural = (language: Language, count: number, one: string, many: string): string =>
  rules[language].select(count) === 'one' ? one : many
