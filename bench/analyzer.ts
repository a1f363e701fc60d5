/**
 * Analysis of one large file of each text format in a process of its own, and reading all of the CSV file.
 * Run: `npm run bench -- analyzer [--megabytes 1024] [--formats csv,ndjson,json,xml] [--rounds 3] [--directory DIR]`
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureFile, type TextFormat, writeLargeFile } from '../packages/server/test/support/large-files.ts'
import { median, printTable, type Row } from './support/machine.ts'

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1024' },
    formats: { type: 'string', default: 'csv,ndjson,json,xml' },
    rounds: { type: 'string', default: '3' },
    directory: { type: 'string', default: tmpdir() },
  },
})
const megabytes = Number(values.megabytes)
const rounds = Number(values.rounds)
const directory = await mkdtemp(join(values.directory, 'millrace-bench-'))

async function measure(what: 'analyze' | 'read', path: string, format: TextFormat, count: number) {
  const runs = []
  for (let round = 0; round < count; round++) runs.push(await measureFile(what, path, format))
  return {
    seconds: median(runs.map(({ milliseconds }) => milliseconds)) / 1000,
    peak: Math.max(...runs.map(({ peakBytes }) => peakBytes)) / 2 ** 20,
    result: runs[0]?.result,
  }
}

const rows: Row[] = []
try {
  for (const format of values.formats.split(',') as TextFormat[]) {
    const path = join(directory, `products.${format}`)
    await writeLargeFile(path, format, megabytes * 2 ** 20)
    const { seconds, peak } = await measure('analyze', path, format, rounds)
    rows.push([
      `analysis of ${megabytes} MB of ${format}`,
      `${seconds.toFixed(2)} s, ${peak.toFixed(0)} MB at most`,
      '',
      '5 s, 300 MB',
    ])
    if (format === 'csv') {
      const read = await measure('read', path, format, 1)
      const perSecond = Number(read.result) / read.seconds
      rows.push([
        `reading all ${read.result} rows of it`,
        `${read.seconds.toFixed(1)} s, ${read.peak.toFixed(0)} MB at most`,
        `${Math.round(perSecond)} rows/s`,
        '',
      ])
    }
    await rm(path)
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
printTable('Analysis of files', rows)
