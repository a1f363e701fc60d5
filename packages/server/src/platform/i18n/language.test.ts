import { expect, test } from 'vitest'
import { languageOfTag, negotiateLanguage } from './language.ts'

test('a tag names a language with and without region, in any case', () => {
  for (const tag of ['fr', 'FR', 'fr-CA', 'fr_FR', ' fr;q=0.8']) expect(languageOfTag(tag)).toBe('fr')
  expect(languageOfTag('en-GB')).toBe('en')
  for (const tag of ['', 'de', 'fro', 'fr2', 'e']) expect(languageOfTag(tag)).toBeUndefined()
})

test('what was asked for goes before what the browser prefers, and English is the rest', () => {
  expect(negotiateLanguage('fr', 'en')).toBe('fr')
  expect(negotiateLanguage('', 'fr-CH, en;q=0.9')).toBe('fr')
  expect(negotiateLanguage('de', 'fr')).toBe('en')
  expect(negotiateLanguage(undefined, 'de, fr')).toBe('en')
  expect(negotiateLanguage(undefined, undefined)).toBe('en')
})
