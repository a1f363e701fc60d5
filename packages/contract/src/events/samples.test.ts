import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maskSample } from './samples.ts'

test.each([
  ['12,5', '"##,#"'],
  ['john.doe@corp.example', '"joxx.xxx@xxxx.xxxxxxx"'],
  ['secret', '"sxxxxx"'],
  ['ab', '"xx"'],
  ['null', '"null"'],
  ['é\n\0', '"x??"'],
  ['\ud800', '"x"'],
  [`A${'b'.repeat(99)}`, `"Ab${'x'.repeat(38)}…" (100 characters)`],
  [1_700_000_000, '1#########'],
  [12.5, '##.#'],
  [-1, '-1'],
  [0, '0'],
  [1e21, '#e+##'],
  [null, 'null'],
  [true, 'true'],
  [undefined, 'undefined'],
  [[1, 2], 'list of 2'],
  [{ a: 1 }, 'object'],
])('shows %j as %s', (value, sample) => {
  expect(maskSample(value)).toBe(sample)
})

test('never holds a word or number of three characters or more, and is always short', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) }),
      (text) => {
        const sample = maskSample(text)
        expect(sample.length).toBeLessThanOrEqual(70)
        for (const word of text.match(/[a-wyz]{3,}|\d{3,}/gi) ?? []) {
          if (sample !== JSON.stringify(text))
            expect(sample.includes(word) && !/^characters?$/.test(word)).toBe(false)
        }
      },
    ),
  )
})
