import type { FastifyRequest } from 'fastify'
import type { Language } from '../mail/letter.ts'

/** English unless French is asked for, by a parameter or else by the browser. */
export function languageOf(lang: string | undefined, acceptLanguage: string | undefined): Language {
  const wanted = lang || (acceptLanguage ?? '').split(',', 1)[0]
  return /^\s*fr\b/i.test(wanted ?? '') ? 'fr' : 'en'
}

function langIn(values: unknown): string | undefined {
  const { lang } = (values ?? {}) as { lang?: unknown }
  return typeof lang === 'string' && lang !== '' ? lang : undefined
}

/** Of a page that answers a request: as its form says, or its address, or the browser. */
export function languageOfRequest({ body, query, headers }: FastifyRequest): Language {
  return languageOf(langIn(body) ?? langIn(query), headers['accept-language'])
}
