import { expect, test } from 'vitest'
import { assignmentBounds, assignmentPoint, assignVariant } from './assignment.ts'
import given from './assignment-vectors.json' with { type: 'json' }
import { sha256Head } from './sha256.ts'

const { allocations, vectors } = given
const variants = allocations.map((allocation, i) => ({ id: String(i), allocation }))

test.each(vectors)('$salt:$unit has the point $point and the variant $variant', (vector) => {
  const { salt, unit, hash, point, variant } = vector
  expect(assignmentPoint(salt, unit)).toBe(point)
  expect(assignVariant(salt, unit, variants).id).toBe(String(variant))
  const head = sha256Head(`${salt}:${unit}`).map((word) => word.toString(16).padStart(8, '0'))
  expect(head.join('')).toBe(hash)
})

test('the vectors meet every variant', () => {
  expect(new Set(vectors.map(({ variant }) => variant))).toEqual(new Set([0, 1, 2]))
})

// FIPS 180-4, examples: the beginnings of the hashes.
test.each([
  ['', 'e3b0c44298fc1c14'],
  ['abc', 'ba7816bf8f01cfea'],
  ['abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq', '248d6a61d20638b8'],
  ['a'.repeat(1_000_000), 'cdc76e5c9914fb92'],
])('hashes %.20s as SHA-256 does', (text, head) => {
  const words = sha256Head(text).map((word) => word.toString(16).padStart(8, '0'))
  expect(words.join('')).toBe(head)
})

test('the last bound is 1, whatever the sum of the allocations is rounded to', () => {
  const tenths = Array.from({ length: 10 }, (_, i) => ({ id: String(i), allocation: 0.1 }))
  expect(tenths.reduce((sum, { allocation }) => sum + allocation, 0)).toBeLessThan(1)
  expect(assignmentBounds(tenths).at(-1)).toBe(1)
  expect(assignmentBounds([{ id: 'a', allocation: 1 }])).toEqual([1])
})

test('an experiment without variants has none to assign', () => {
  expect(() => assignVariant('salt', 'unit', [])).toThrow(RangeError)
})
