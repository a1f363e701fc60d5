import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { costOfPattern } from './patterns.ts'
import { remembered, WrongArgument } from './transform-function.ts'

const atoms = [
  ...['a', 'é', '😀', '.', '^', '\\b', '\\d', '\\.', '\\x41', '\\x{1F600}', '\\101', '\\Qab+c\\E', '(?i)'],
  ...[
    '\\pL',
    '\\PN',
    '\\p{Greek}',
    '[a-z]',
    '[^a-z]',
    '[\\pL\\d]',
    '[[:alpha:]]',
    '[]a]',
    '[^]a]',
    '[a\\]b]',
  ],
]
const repetitions = ['*', '+', '?', '*?', '{3}', '{2,}', '{0,4}', '{1,7}', '{0}', '{0,}', '{30}', '{5,40}']
const { pattern: patterns } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(...atoms),
    fc.array(tie('pattern'), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 4 }).map((parts) => parts.join('|')),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?i:'), tie('pattern'), fc.constantFrom(...repetitions, ''))
      .map(([open, inner, repetition]) => `${open}${inner})${repetition}`),
  ),
}))

test('W19: no pattern compiles to more than its text says', () => {
  let compiled = 0
  fc.assert(
    fc.property(patterns, (pattern) => {
      const { size, whole } = costOfPattern(pattern)
      if (whole > 1_000) return
      const { error, expression } = attempt(pattern)
      if (error === undefined) compiled++
      expect(expression?.programSize() ?? 0).toBeLessThanOrEqual(size)
    }),
    { numRuns: 1_000, examples: [['(?i)'], ['(?:|a)*'], ['(?:(?i)){3}'], ['a{0}'], ['(?:a?){500}']] },
  )
  expect(compiled).toBeGreaterThan(500)
})

function attempt(pattern: string): { expression?: RE2JS; error?: unknown } {
  try {
    return { expression: RE2JS.compile(pattern) }
  } catch (error) {
    return { error }
  }
}

test.each([
  ['order nr (\\d+)', 20],
  ['(?i)\\b(?:rouge|noir|bleu)\\b', 30],
  ['^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$', 80],
  ['\\p{L}{2,30}', 170],
])('what %s costs', (pattern, most) => {
  expect(costOfPattern(pattern).whole).toBeLessThanOrEqual(most)
})

test.each([
  'a{1000}'.repeat(142),
  '(?:a{100}){11}',
  '(?:(?:a{10}){11}){10}',
  '(?i)[b-\\x{10fffe}][b-𞤣]',
  '[\\pL\\PL\\pN\\PN\\pS\\PS\\pM\\PM\\pP\\PP]',
])('%s costs more than a pattern may', (pattern) => {
  expect(costOfPattern(pattern).whole).toBeGreaterThan(1_000)
})

test('W19: what was refused is remembered as what was made is; what was not used for longest is forgotten', () => {
  const made: string[] = []
  const read = remembered(
    (key: string) => {
      made.push(key)
      if (key.startsWith('x')) throw new WrongArgument(key)
      return key.length
    },
    { max: 10, sizeOf: (value = 2) => value },
  )
  for (const key of ['aaaa', 'x', 'aaaa', 'x', 'bbbb', 'aaaa', 'cccc', 'aaaa', 'bbbb']) {
    if (key === 'x') expect(() => read(key)).toThrow('x')
    else expect(read(key)).toBe(4)
  }
  expect(made).toEqual(['aaaa', 'x', 'bbbb', 'cccc', 'bbbb'])
})
