/**
 * How long a start takes on an empty and on an existing data directory, what an idle service holds in memory, and
 * whether memory stays flat under load.
 * Run: `npm run bench -- start [--data DIRECTORY] [--minutes 10]`; a directory filled by `statistics` is the existing one.
 */
import { parseArgs } from 'node:util'
import { removeData, type Service, startService } from '../packages/server/test/support/running-service.ts'
import { readCounters } from './support/fill.ts'
import { median, printTable, type Row } from './support/machine.ts'
import { driveEvents } from './support/wrk.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    settle: { type: 'string', default: '20' },
  },
})
const minutes = Number(values.minutes)
const rounds = Number(values.rounds)
const rows: Row[] = []
const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`

const empty: number[] = []
for (let round = 0; round < rounds; round++) {
  const service = await startService()
  empty.push(service.readyAfter)
  await service.stop()
  removeData(service)
}
rows.push(['ready on an empty directory', seconds(median(empty)), '', '< 15 s'])

let existing: Service = await startService(values.data === undefined ? {} : { dataDirectory: values.data })
const starts: number[] = []
for (let round = 0; round < rounds; round++) {
  await existing.stop()
  existing = await startService({ dataDirectory: existing.dataDirectory })
  starts.push(existing.readyAfter)
}
const { accepted } = await readCounters(existing)
rows.push([
  `ready with ${accepted.toLocaleString('en-US')} events stored`,
  seconds(median(starts)),
  '',
  '< 5 s',
])

await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000))
const idle = existing.memory()
console.error(idle.processes)
rows.push(['resident memory of all processes, idle', `${idle.total.toFixed(0)} MiB`, '', '< 900 MB'])

const samples: number[] = []
for (let minute = 0; minute < minutes; minute++) {
  await driveEvents({ url: existing.trackerUrl, key: existing.companyId, seconds: 60 })
  samples.push(existing.memory().total)
  console.error(`minute ${minute + 1}: ${samples.at(-1)?.toFixed(0)} MiB`)
}
if (samples.length > 1) {
  const half = Math.ceil(samples.length / 2)
  const [first, last] = [median(samples.slice(0, half)), median(samples.slice(half))]
  rows.push([
    `memory over ${minutes} minutes of load, second half against first`,
    `${first.toFixed(0)} and ${last.toFixed(0)} MiB`,
    (last / first).toFixed(2),
    'flat',
  ])
}
printTable('Start and memory', rows)
await existing.stop()
if (values.data === undefined) removeData(existing)
