/**
 * What a start takes on an empty and on an existing data directory, what an idle service holds in memory and computes,
 * what it computes with little traffic, and whether memory stays flat under load. With `--against` the starts of another
 * checkout are measured in turns.
 * Run: `npm run bench -- start [--data DIRECTORY] [--against CHECKOUT] [--rounds 3] [--settle 30] [--idle 60]
 * [--minutes 10]`; a directory filled by `statistics` is the existing one.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { FamilyMember } from '../packages/server/test/support/process-family.ts'
import { removeData, type Service, startService } from '../packages/server/test/support/running-service.ts'
import { readCounters } from './support/fill.ts'
import { median, printTable, type Row } from './support/machine.ts'
import { driveEvents } from './support/wrk.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    against: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    settle: { type: 'string', default: '30' },
    idle: { type: 'string', default: '60' },
  },
})
const minutes = Number(values.minutes)
const idleSeconds = Number(values.idle)

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`
const mebibytes = (figure: number): string => `${figure.toFixed(0)} MiB`
const sumOf = (family: readonly FamilyMember[], key: 'rss' | 'pss' | 'processorMs'): number =>
  family.reduce((sum, member) => sum + member[key], 0)

/** Figures of one checkout, one for each round. */
interface Figures {
  readonly checkout: string | undefined
  readonly values: Map<string, number[]>
}

const checkouts = [undefined, ...(values.against === undefined ? [] : [values.against])]
const measured: Figures[] = checkouts.map((checkout) => ({ checkout, values: new Map() }))

function keep(figures: Figures, what: string, value: number): void {
  const all = figures.values.get(what) ?? []
  figures.values.set(what, [...all, value])
}

async function measureStart(
  figures: Figures,
  where: string,
  dataDirectory: string | undefined,
): Promise<Service> {
  const { checkout } = figures
  const service = await startService({
    ...(checkout === undefined ? {} : { checkout }),
    ...(dataDirectory === undefined ? {} : { dataDirectory }),
  })
  keep(figures, `ready on ${where}`, service.readyAfter)
  keep(figures, `processor time until ready, ${where}`, sumOf(service.family(), 'processorMs'))
  return service
}

async function countModules(figures: Figures, dataDirectory: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-modules-'))
  const file = join(directory, 'count')
  const { checkout } = figures
  const service = await startService({
    dataDirectory,
    ...(checkout === undefined ? {} : { checkout }),
    env: {
      NODE_OPTIONS: `--import ${new URL('./support/count-modules.ts', import.meta.url)}`,
      MILLRACE_BENCH_MODULES: file,
    },
  })
  await service.stop()
  keep(figures, 'modules loaded', Number(readFileSync(file, 'utf8')))
  rmSync(directory, { recursive: true })
}

/** Stands still, then tells what that takes. */
async function measureIdle(figures: Figures, service: Service): Promise<void> {
  await sleep(Number(values.settle) * 1000)
  const before = service.family()
  await sleep(idleSeconds * 1000)
  const family = service.family()
  for (const { pid, program, rss, pss } of family) {
    console.error(`${pid} ${mebibytes(rss)} (PSS ${mebibytes(pss)}) ${program.slice(0, 80)}`)
  }
  const main = family.find(({ pid }) => pid === service.pid)
  keep(figures, 'idle memory of all processes, PSS', sumOf(family, 'pss'))
  keep(figures, 'idle memory of all processes, RSS', sumOf(family, 'rss'))
  keep(figures, 'idle memory of the main process, RSS', main?.rss ?? Number.NaN)
  const spent = sumOf(family, 'processorMs') - sumOf(before, 'processorMs')
  keep(figures, 'processor time while idle, of one core', spent / (idleSeconds * 1000))
}

const trickleRate = 2

/** What little traffic takes while the interface has no requests. */
async function measureTrickle(figures: Figures, service: Service): Promise<void> {
  const before = service.family()
  for (let n = 0; n < trickleRate * idleSeconds; n++) {
    const event = {
      key: service.companyId,
      name: 'page_view',
      v: 1,
      eventId: `trickle-${Date.now()}-${n}`,
      data: {},
    }
    const { status } = await fetch(service.trackerUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...event, url: 'https://shop.example/', tmpId: `device-${n % 50}` }),
    })
    if (status !== 200) throw new Error(`an event is answered ${status}`)
    await sleep(1_000 / trickleRate)
  }
  const spent = sumOf(service.family(), 'processorMs') - sumOf(before, 'processorMs')
  keep(
    figures,
    `processor time with ${trickleRate} events a second, of one core`,
    spent / (idleSeconds * 1000),
  )
}

let accepted = 0
for (let round = 0; round < Number(values.rounds); round++) {
  for (const figures of measured) {
    const first = await measureStart(figures, 'an empty directory', undefined)
    const dataDirectory = values.data ?? first.dataDirectory
    await first.stop()
    const service = await measureStart(figures, 'existing data', dataDirectory)
    accepted = (await readCounters(service)).accepted
    if (round === 0) {
      await measureIdle(figures, service)
      await measureTrickle(figures, service)
    }
    await service.stop()
    if (round === 0) await countModules(figures, dataDirectory)
    removeData(first)
  }
}

const targets: Readonly<Record<string, string>> = {
  'ready on an empty directory': '< 3 s',
  'ready on existing data': '< 1.2 s',
  'idle memory of all processes, PSS': '<= 350 MiB',
  'idle memory of the main process, RSS': '<= 130 MiB',
  'processor time while idle, of one core': '< 0.3 %',
}

function shown(what: string, figure: number): string {
  if (what.startsWith('ready') || what.includes('until ready')) return seconds(figure)
  if (what.includes('memory')) return mebibytes(figure)
  if (what.includes('of one core')) return `${(100 * figure).toFixed(2)} %`
  return figure.toFixed(0)
}

const [own, other] = measured
const rows: Row[] = [...(own?.values ?? [])].map(([what, figures]) => {
  const figure = median(figures)
  const before = other?.values.get(what)
  const name = what.includes('existing') ? `${what} (${accepted.toLocaleString('en-US')} events)` : what
  if (before === undefined) return [name, shown(what, figure), '', targets[what] ?? '']
  const beside = median(before)
  return [
    name,
    `${shown(what, figure)} against ${shown(what, beside)}`,
    (figure / beside).toFixed(2),
    targets[what] ?? '',
  ]
})

if (minutes > 0) {
  const service = await startService(values.data === undefined ? {} : { dataDirectory: values.data })
  const samples: number[] = []
  const shared: number[] = []
  for (let minute = 0; minute < minutes; minute++) {
    await driveEvents({ url: service.trackerUrl, key: service.companyId, seconds: 60 })
    const family = service.family()
    samples.push(sumOf(family, 'rss'))
    shared.push(sumOf(family, 'pss'))
    console.error(
      `minute ${minute + 1}: ${mebibytes(samples.at(-1) ?? 0)} (PSS ${mebibytes(shared.at(-1) ?? 0)})`,
    )
  }
  rows.push([
    `memory at full rate for ${minutes} minutes, PSS, at most`,
    mebibytes(Math.max(...shared)),
    '',
    '<= 700 MB',
  ])
  const half = Math.ceil(samples.length / 2)
  const [first, last] = [median(samples.slice(0, half)), median(samples.slice(half))]
  if (samples.length > 1) {
    rows.push([
      `memory over ${minutes} minutes of load, second half against first`,
      `${mebibytes(first)} and ${mebibytes(last)}`,
      (last / first).toFixed(2),
      'flat',
    ])
  }
  await service.stop()
  if (values.data === undefined) removeData(service)
}
printTable('Start and memory', rows)
