import { expect, it } from 'vitest'
import { readKeys } from './key-stream.ts'

const bytesOf = (keys: readonly bigint[]): Buffer => {
  const bytes = Buffer.alloc(8 * keys.length)
  for (const [index, key] of keys.entries()) bytes.writeBigUInt64LE(key, 8 * index)
  return bytes
}

async function* inParts(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const read = async (bytes: Buffer, size: number): Promise<number[]> => {
  const halves: number[] = []
  await readKeys(inParts(bytes, size), (some) => void halves.push(...some))
  return halves
}

it.each([1, 3, 8, 13, 1_000, 300_000])('keys come whole from parts of %i bytes', async (size) => {
  const keys = Array.from({ length: 40_000 }, (_, index) => (BigInt(index) << 32n) | BigInt(7 * index))
  const expected = keys.flatMap((key) => [Number(key & 0xffff_ffffn), Number(key >> 32n)])
  expect(await read(bytesOf(keys), size)).toEqual(expected)
})

it('half a key at the end is an error', async () => {
  await expect(read(bytesOf([1n, 2n]).subarray(0, 12), 8)).rejects.toThrow('4 bytes instead of 8')
})
