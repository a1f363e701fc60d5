import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Position } from '../../src/platform/stores/event-log.ts'
import { openSegmentLog } from '../../src/platform/stores/segment-log.ts'
import { readLog } from '../support/log-lines.ts'
import { times } from '../support/long.ts'

const WRITER = join(import.meta.dirname, '../support/log-writer.ts')
const ROUNDS = times(20, 6)

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'event-log-kill-'))
})
afterEach(() => rmSync(root, { recursive: true }))

/** Runs a writer on the directory and kills it some time after its first acknowledgement. */
const writeUntilKilled = async (directory: string, perAppend: number, afterMs: number): Promise<number[]> => {
  const writer = spawn(process.execPath, [WRITER, directory, '64', String(perAppend)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  writer.stdout.setEncoding('utf8')
  writer.stdout.on('data', (text: string) => {
    if (output === '') setTimeout(() => writer.kill('SIGKILL'), afterMs)
    output += text
  })
  await once(writer, 'close')
  // A busy machine may kill the writer right after its first acknowledgement; that one there is.
  const lines = output.split('\n').slice(0, -1)
  expect(lines.length).toBeGreaterThan(0)
  return lines.map(Number)
}

describe('kill -9 under load', () => {
  it(
    `loses no acknowledged line and yields none twice, ${ROUNDS} times in a row`,
    async () => {
      const directory = join(root, 'log')
      const read = new Set<number>()
      let checkpoint: Position = { segment: 0, offset: 0 }
      let last = 0
      let kept = 0
      for (let round = 0; round < ROUNDS; round++) {
        const perAppend = round % 2 === 0 ? 1 : 20
        const acknowledged = await writeUntilKilled(directory, perAppend, 5 + ((round * 37) % 90))
        kept += acknowledged.length
        expect(Math.min(...acknowledged)).toBeGreaterThan(last)
        const log = await openSegmentLog({ directory })
        const { lines, next, batches } = await readLog(log, checkpoint)
        checkpoint = next
        await log.release(next)
        await log.close()
        for (const line of lines) {
          const { q } = JSON.parse(line) as { q: number }
          expect(read.has(q)).toBe(false)
          read.add(q)
          last = Math.max(last, q)
        }
        for (const first of acknowledged) {
          for (let q = first; q < first + perAppend; q++) if (!read.has(q)) expect.fail(`${q} is lost`)
        }
        expect(batches.flatMap(({ damaged }) => damaged)).toEqual([])
      }
      expect(kept).toBeGreaterThan(ROUNDS * 20)
    },
    600_000 + ROUNDS * 6_000,
  )
})
