/**
 * Appends to an event log as fast as it can until it is killed, and writes the number of each acknowledged line to
 * standard output. Run: node log-writer.ts <directory> <parallel appends> <lines per append>
 */
import { writeSync } from 'node:fs'
import { openSegmentLog } from '../../src/platform/stores/segment-log.ts'

const [directory = '', parallel = '64', perAppend = '1'] = process.argv.slice(2)
const count = Number(perAppend)
const log = await openSegmentLog({
  directory,
  segmentBytes: 2_000_000,
  preparesSegments: true,
})

const write = async (): Promise<never> => {
  for (;;) {
    const first = log.reserve(count)
    let lines = ''
    for (let q = first; q < first + count; q++) lines += `{"q":${q},"u":"${'x'.repeat(280)}"}\n`
    await log.append(lines, count, first)
    // Synchronous, so that a kill cannot take back what was said.
    writeSync(1, `${first}\n`)
  }
}

await Promise.all(Array.from({ length: Number(parallel) }, write))
