import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNestedDeeperThan } from './nesting.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

test('agrees with the depth of what the text means, whatever its strings hold', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a', ',', ':', '\n') })
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 6 }, text, fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  }))
  fc.assert(
    fc.property(value, fc.boolean(), (document, spaced) => {
      const depth = depthOf(document)
      const written = JSON.stringify(document, undefined, spaced ? 2 : 0)
      expect(isNestedDeeperThan(written, depth)).toBe(false)
      if (depth > 0) expect(isNestedDeeperThan(written, depth - 1)).toBe(true)
    }),
  )
})

test('ends with any text, and in time linear in its length', async () => {
  for (const part of ['[', '"', '"\\', '\\"', '"\\"', '\\\\"', '{"a":', ']']) {
    const text = part.repeat(1_000_000)
    const look = () => isNestedDeeperThan(text, Number.POSITIVE_INFINITY)
    await expect(look).toCostAtMost(5, () => [...text])
  }
})
