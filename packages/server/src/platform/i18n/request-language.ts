import type { FastifyRequest } from 'fastify'
import { type Language, languageOfTag, negotiateLanguage } from './language.ts'

/**
 * The tag that the parameters of a page ask for: `lang`, or else the first of `ui_locales`, a list by preference, that
 * pages speak (RFC 8414 2).
 */
export function languageTagOf(lang: string | undefined, uiLocales: string | undefined): string | undefined {
  return lang || uiLocales?.split(' ').find((locale) => languageOfTag(locale) !== undefined)
}

function tagIn(values: unknown): string | undefined {
  const { lang, ui_locales: uiLocales } = (values ?? {}) as { lang?: unknown; ui_locales?: unknown }
  const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return languageTagOf(textOf(lang), textOf(uiLocales))
}

/** Of a page that answers a request: as its form says, or its address, or the browser. */
export function languageOfRequest({ body, query, headers }: FastifyRequest): Language {
  return negotiateLanguage(tagIn(body) ?? tagIn(query), headers['accept-language'])
}
