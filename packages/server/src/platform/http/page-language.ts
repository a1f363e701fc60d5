import type { FastifyRequest } from 'fastify'
import type { Language } from '../mail/letter.ts'

/** English unless French is asked for, by a parameter or else by the browser. */
export function languageOf(lang: string | undefined, acceptLanguage: string | undefined): Language {
  const wanted = lang || (acceptLanguage ?? '').split(',', 1)[0]
  return /^\s*fr\b/i.test(wanted ?? '') ? 'fr' : 'en'
}

/**
 * What the parameters of a page ask for: `lang`, or else the first of `ui_locales`, a list by preference, that pages
 * speak (RFC 8414 2).
 */
export function langOf(lang: string | undefined, uiLocales: string | undefined): string | undefined {
  return lang || uiLocales?.split(' ').find((locale) => /^(?:en|fr)\b/i.test(locale))
}

function langIn(values: unknown): string | undefined {
  const { lang, ui_locales: uiLocales } = (values ?? {}) as { lang?: unknown; ui_locales?: unknown }
  const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return langOf(textOf(lang), textOf(uiLocales))
}

/** Of a page that answers a request: as its form says, or its address, or the browser. */
export function languageOfRequest({ body, query, headers }: FastifyRequest): Language {
  return languageOf(langIn(body) ?? langIn(query), headers['accept-language'])
}
