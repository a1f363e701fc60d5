import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filesBelow, packFiles, readPart, unpackFiles } from './part-packs.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-packs-'))
const part = join(folder, 'all_1_1_0')
const files = {
  'checksums.txt': 'digests',
  'count.txt': '12',
  'data.bin': 'x'.repeat(200_000),
  'empty.bin': '',
  'sum.proj/data.bin': 'a line\nand another',
}

beforeAll(() => {
  mkdirSync(join(part, 'sum.proj'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(part, name), text)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the files of a part', () => {
  it('are the same after they were packed', async () => {
    const { packs, rows } = await readPart(part)
    expect(rows).toBe(12)
    expect(packs).toHaveLength(1)
    const to = join(folder, 'unpacked')
    await unpackFiles(packFiles(part, packs[0] ?? []), to)
    expect(await filesBelow(to)).toEqual(Object.keys(files))
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(to, name), 'utf8')).toBe(text)
  })

  it('have one fingerprint whatever the part is called, and another when one changes', async () => {
    const { fingerprint } = await readPart(part)
    const other = join(folder, 'all_1_1_0_7')
    cpSync(part, other, { recursive: true })
    expect((await readPart(other)).fingerprint).toBe(fingerprint)
    writeFileSync(join(other, 'checksums.txt'), 'Digests')
    expect((await readPart(other)).fingerprint).not.toBe(fingerprint)
  })
})

describe('a pack', () => {
  const of = (text: string | Buffer) =>
    unpackFiles(Readable.from([text], { objectMode: false }), join(folder, 'to'))

  it('is refused when it is cut at any place', async () => {
    const whole = await buffer(packFiles(part, [['sum.proj/data.bin', 18]]))
    for (let end = 0; end < whole.length; end++)
      await expect(of(whole.subarray(0, end)), `${end}`).rejects.toThrow('A pack of a part is cut')
    await expect(of(whole)).resolves.toBeUndefined()
  })

  it('is refused without a list of its files, however long it is', async () => {
    await expect(of('x'.repeat(2_000_000))).rejects.toThrow('does not say which files it has')
  })

  it.each(['../outside', '/outside', 'a/../../outside'])('writes nothing to %s', async (name) => {
    await expect(of(`${JSON.stringify([[name, 1]])}\nx`)).rejects.toThrow('outside of it')
  })
})
