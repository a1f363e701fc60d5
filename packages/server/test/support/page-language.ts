import { expect } from 'vitest'
import type { Language } from '../../src/platform/i18n/language.ts'
import type { injected, Reply, Transport } from './form-browser.ts'

/** Requests of a browser that asks for this language. */
export const inLanguage =
  (language: Language, transport: ReturnType<typeof injected>): Transport =>
  (request) =>
    transport({ ...request, headers: { 'accept-language': language, ...request.headers } })

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }

/** Everything of a page that a person can read, piece by piece. */
export function textsOf(markup: string): string[] {
  const shown = markup.replace(/<style>.*<\/style>/s, '')
  const attributes = [...shown.matchAll(/ (?:title|alt|aria-label|placeholder)="([^"]*)"/g)].map(
    ([, text = '']) => text,
  )
  return [...shown.replaceAll(/<[^>]*>/g, '\n').split('\n'), ...attributes]
    .map((text) => text.replaceAll(/&\w+;/g, (each) => entities[each] ?? each).trim())
    .filter((text) => /\p{L}/u.test(text))
}

/** The same in both languages: names, addresses and references. */
const neutral = /^(?:Millrace|English|Français|\S+@\S+|[0-9a-f]{24})$/

/** Words of English that are none of French. */
const englishWords =
  /\b(?:the|is|are|was|has|have|must|your|you|this|that|these|with|and|of|to|not|please|again|password|wrong|too|many|try|here|there)\b/i

/** Holds a page in French against the same page in English: no sentence may be in both, and none be English. */
export function expectFrench(english: Reply, french: Reply, name: string): string[] {
  expect(french.statusCode, name).toBe(english.statusCode)
  expect(
    [english, french].map(({ headers }) => headers['content-language']),
    name,
  ).toEqual(['en', 'fr'])
  expect(french.body, name).toContain('<html lang="fr">')
  const [inEnglish, inFrench] = [textsOf(english.body), textsOf(french.body)]
  expect(inFrench.length, name).toBe(inEnglish.length)
  const same = inFrench.filter((text) => inEnglish.includes(text) && !neutral.test(text))
  expect(same, `${name}: the same in English`).toEqual([])
  const foreign = inFrench.filter((text) => !neutral.test(text) && englishWords.test(text))
  expect(foreign, `${name}: English words`).toEqual([])
  return inFrench
}
