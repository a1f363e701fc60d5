import fc from 'fast-check'
import { expect, test } from 'vitest'
import { comparedName, hashOfName } from './tag-name.ts'

test.each([
  ['Season', 'SEASON'],
  ['Season', '  season\u00a0'],
  ['Season', '\u3000Season'],
  ['Straße', 'STRASSE'],
  ['STRAẞE', 'strasse'],
  ['ΟΔΟΣ', 'οδος'],
  ['οδος', 'οδοσ'],
  ['İstanbul', 'i̇stanbul'],
  ['Kelvin \u212a', 'kelvin k'],
  ['ｆｕｌｌ ｗｉｄｔｈ', 'FULL WIDTH'],
  ['Café', 'CAFE\u0301'],
  ['ﬁve', 'FIVE'],
  ['Sea\u200bson\u2060', 'season'],
  ['So\u00adft', 'soft'],
  ['❤️', '❤'],
])('%j is the name %j', (a, b) => {
  expect(comparedName(a)).toBe(comparedName(b))
  expect(hashOfName(a)).toEqual(hashOfName(b))
})

test.each([
  ['Season', 'Seasons'],
  ['Two words', 'Twowords'],
  ['Two words', 'Two  words'],
  ['istanbul', 'İstanbul'],
  ['Kız', 'Kiz'],
  ['Café', 'Cafe'],
  ['a', 'а'],
])('%j is another name than %j', (a, b) => {
  expect(comparedName(a)).not.toBe(comparedName(b))
})

test.each(['\u200b', '\u2060 \ufeff', '\u3164', '\ufe0f'])('nothing is seen of %j', (name) => {
  expect(comparedName(name)).toBe('')
})

const changing = /[\p{Changes_When_Casemapped}\p{Changes_When_NFKC_Casefolded}]/u

test('every character is compared with itself in other cases', () => {
  for (let code = 1; code <= 0x10ffff; code++) {
    const letter = String.fromCodePoint(code)
    if (!changing.test(letter)) continue
    const compared = comparedName(letter)
    const cases = [letter.toLowerCase(), ...(letter === 'ı' ? [] : [letter.toUpperCase()])]
    for (const other of cases) {
      if (comparedName(other) !== compared) throw new Error(`${code.toString(16)}: ${other}`)
    }
    if (comparedName(compared) !== compared) throw new Error(`${code.toString(16)} changes twice`)
  }
})

test('a compared name stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const compared = comparedName(name)
      expect(comparedName(compared)).toBe(compared)
    }),
  )
})
