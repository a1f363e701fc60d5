import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../platform/clock.ts'
import { DiskReserve } from '../../../platform/files/disk-reserve.ts'
import { newId } from '../../../platform/ids.ts'
import { createContentFiles } from './content-files.ts'

let root: string
let directory: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-files-'))
  directory = join(root, 'contents')
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

/** On a disk that is this large. */
const open = (diskBytes = 1e9) =>
  createContentFiles({
    directory,
    downloads: join(root, 'downloads'),
    room: new DiskReserve({
      directory: root,
      reserveBytes: 1_000,
      clock: systemClock,
      freeBytes: async () => diskBytes - storedBytes(),
    }),
  })
const storedBytes = () =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
const limit = (limitBytes: number) => ({ limitBytes, onBytes: async () => {} })
const bodyOf = (...pieces: readonly string[]) => Readable.from(pieces.map((piece) => Buffer.from(piece)))

test('a body is stored whole, with its size and hash', async () => {
  const { name, path, bytes, sha256 } = await open().store(bodyOf('sku\n', 'A1\n'), limit(100))
  expect(readFileSync(path, 'utf8')).toBe('sku\nA1\n')
  expect(readdirSync(directory)).toEqual([name])
  expect([bytes, sha256]).toEqual([7, createHash('sha256').update('sku\nA1\n').digest('hex')])
})

test('D06: a body beyond the limit is refused, and nothing is left of it', async () => {
  await expect(open().store(bodyOf('12345', '67890', 'x'), limit(10))).rejects.toMatchObject({
    errorName: 'contentTooLarge',
    data: { limit: 10, unit: 'bytes' },
  })
  expect(readdirSync(directory)).toEqual([])
  expect((await open().store(bodyOf('12345', '67890'), limit(10))).bytes).toBe(10)
})

test('D10: the disk is asked before the first byte and for each piece, and nothing is left of what was written', async () => {
  // Twice the reserve is kept free.
  for (const [diskBytes, written] of [
    [1_999, 0],
    [2_008, 5],
  ] as const) {
    const seen: number[] = []
    const options = { limitBytes: 100, onBytes: async (bytes: number) => void seen.push(bytes) }
    const refused = open(diskBytes).store(bodyOf('12345', '67890'), options)
    await expect(refused).rejects.toMatchObject({ name: 'DiskNearlyFull', status: 503 })
    expect(seen).toEqual(written === 0 ? [] : [5, 10])
    expect(readdirSync(directory)).toEqual([])
  }
})

test('D06: nothing is left of a body that breaks off', async () => {
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('half')
      throw new Error('the sender has left')
    })(),
  )
  await expect(open().store(broken, limit(100))).rejects.toThrow('the sender has left')
  expect(readdirSync(directory)).toEqual([])
})

test('D08: files of a process that was killed are removed: downloads at the next start, others once they are old', async () => {
  const files = open()
  await files.prepare()
  writeFileSync(join(root, 'downloads', newId()), 'left')
  await files.prepare()
  expect(readdirSync(join(root, 'downloads'))).toEqual([])

  const now = Date.now()
  const age = (name: string, hours: number) => {
    writeFileSync(join(directory, name), 'x')
    utimesSync(join(directory, name), new Date(now), new Date(now - hours * 3_600_000))
    return name
  }
  const known = age(newId(), 5)
  const recent = age(newId(), 0.5)
  const foreign = age('notes.txt', 5)
  age(newId(), 5)
  age(`${newId()}.part`, 5)
  expect(await files.sweep(async (names) => names.filter((name) => name === known), now)).toBe(2)
  expect(readdirSync(directory).toSorted()).toEqual([known, recent, foreign].toSorted())
})

test('only names that the service gave are names of files', () => {
  for (const name of ['../x', '/etc/passwd', 'a'.repeat(24).toUpperCase(), '']) {
    expect(() => open().pathOf(name)).toThrow('no name of a content')
  }
})
