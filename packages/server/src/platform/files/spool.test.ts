import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../clock.ts'
import { DiskReserve } from './disk-reserve.ts'
import { createSpool } from './spool.ts'

const room = new DiskReserve({ directory: tmpdir(), reserveBytes: 0, clock: systemClock })

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-spool-'))
})

afterAll(() => rmSync(directory, { recursive: true }))

it('gives back any text, however little it holds in memory, and leaves no name behind', async () => {
  const pieces = fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: 4, max: 50 }), async (given, heldBytes) => {
      const texts = given.map((each) => each.toWellFormed())
      const whole = texts.join('')
      const spool = createSpool({ directory, room, heldBytes })
      for (const each of texts) await spool.write(each)
      expect(spool.size).toBe(Buffer.byteLength(whole))
      expect(readdirSync(directory)).toEqual([])
      const read = spool.read('<é', '>')
      expect(Buffer.isBuffer(read) ? read.toString() : await text(read)).toBe(`<é${whole}>`)
    }),
  )
})

it('makes no file for what it holds', async () => {
  const refuse = async () => {
    throw new Error('no file')
  }
  const spool = createSpool({ directory, room, heldBytes: 10, onFile: refuse })
  await spool.write('0123456789')
  await expect(spool.write('x')).rejects.toThrow('no file')
  await spool.discard()
  await spool.discard()
})
