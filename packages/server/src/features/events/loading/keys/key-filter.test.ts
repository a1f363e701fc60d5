import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { KeyFilter } from './key-filter.ts'

/** So many keys that look random and are the same in every run, as halves. */
const keysOf = (name: string, count: number): Uint32Array<ArrayBuffer> => {
  const bytes = createHash('shake256', { outputLength: 8 * count })
    .update(name)
    .digest()
  return new Uint32Array(new Uint8Array(bytes).buffer)
}

const knownOf = (filter: KeyFilter, keys: Uint32Array): number[] => {
  const known: number[] = []
  filter.add(keys, (key) => known.push(key))
  return known
}

describe('a filter of keys', () => {
  it('knows every key that it was given', () => {
    const filter = new KeyFilter(100_000)
    const keys = keysOf('given', 100_000)
    knownOf(filter, keys)
    expect(knownOf(filter, keys)).toEqual(Array.from({ length: 100_000 }, (_, index) => index))
  })

  it('knows them beyond its capacity', () => {
    const filter = new KeyFilter(1_000)
    const keys = keysOf('too many', 20_000)
    knownOf(filter, keys)
    expect(filter.count).toBeGreaterThan(filter.capacity)
    expect(knownOf(filter, keys)).toHaveLength(20_000)
  })

  it('has less than 1 false positive in 100 unknown keys when it is full, and counts new keys', () => {
    const filter = new KeyFilter(100_000)
    const claimed = knownOf(filter, keysOf('given', 100_000)).length
    expect(filter.count).toBe(100_000 - claimed)
    const unknown = knownOf(filter, keysOf('unknown', 10_000)).length
    expect(unknown).toBeGreaterThan(0)
    expect(unknown).toBeLessThan(100)
    expect(filter.bytes).toBe(150_016)
  })

  it('knows the second of two equal keys, however close', () => {
    const keys = keysOf('pair', 3)
    const pairs = new Uint32Array([...keys, ...keys])
    expect(knownOf(new KeyFilter(100), pairs)).toEqual([3, 4, 5])
  })

  it('tells keys apart that differ in one half', () => {
    const filter = new KeyFilter(1_000)
    expect(knownOf(filter, Uint32Array.of(1, 2, 1, 0xffff_ffff, 0xffff_ffff, 2, 0, 0))).toEqual([])
    expect(knownOf(filter, Uint32Array.of(0xffff_ffff, 2, 1, 0xffff_ffff))).toEqual([0, 1])
  })
})
