import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { eventRules } from '@millrace/contract/events/rules.ts'
import { validateEvent } from '@millrace/contract/events/validate.ts'
import { ImportFault } from './import-fault.ts'
import { type Envelope, type MappingCounts, mapRecords } from './map-records.ts'
import { readMapping } from './mapping.ts'
import { peers } from './peers/all.ts'
import type { Peer } from './peers/peer.ts'
import { createProgressDisplay, formatDuration, grouped } from './progress-display.ts'
import { type InputFormat, openInput } from './read-records.ts'
import { noResume, openResume } from './resume-state.ts'
import { sendEvents } from './send-events.ts'

const peerUsage = [...peers].map(([name, { file }]) => `  ${name.padEnd(12)}${file}`).join('\n')

export const importUsage = `millrace import FILE [options]     FILE may be gzip; - reads standard input

Reads CSV or NDJSON, makes events of it and sends them through the collector of a running service.
Without a mapping, each NDJSON line is an event envelope already.

  --from PRODUCT         what another product has exported, see below
  --mapping NAME|FILE    how records become events; a shipped one by its name (online-retail)
  --format csv|ndjson    when the name of the file does not tell
  --delimiter C          of CSV, default ,
  --url URL              the collector; default: the service of the data directory
  --datasource ID        default: the first tracking datasource of the data directory
  --key COMPANY          company identifier; default: the company of the data directory
  --dry-run              validate every event and show what it would make, send nothing

An interrupted import resumes where it stopped when the same command is given again. Into a datasource of its own
(millrace datasource create) it can be undone: delete the datasource.

Products, and the files that are read:
${peerUsage}`

/** Counters of a datasource, as the service keeps them. */
export interface DatasourceCounters {
  readonly accepted: number
  readonly dropped: number
  readonly duplicate: number
}

export interface ImportDependencies {
  readonly dataDirectory: string
  readonly output: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number }
  readonly signal: AbortSignal
  /** What the service counted so far, where this process may ask it; distinguishes stored events from repeated ones. */
  readonly readCounters?: (datasourceId: string) => Promise<DatasourceCounters | undefined>
}

interface Target {
  readonly url: string
  readonly datasource: string
  readonly key: string
}

/** What was seen on the way, for the closing table. */
interface Tally extends MappingCounts {
  acknowledged: number
  skipped: number
  readonly dropped: Map<string, number>
  readonly changed: Map<string, number>
}

function readArguments(argv: readonly string[]) {
  try {
    const parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        mapping: { type: 'string' },
        from: { type: 'string' },
        format: { type: 'string' },
        delimiter: { type: 'string' },
        url: { type: 'string' },
        datasource: { type: 'string' },
        key: { type: 'string' },
        'dry-run': { type: 'boolean' },
      },
    })
    const [file, ...more] = parsed.positionals
    if (file === undefined) throw new ImportFault('Name a file to import, or - for standard input')
    if (more.length > 0) throw new ImportFault(`Import one file at a time; ${more.join(' ')} is left over`)
    const { format } = parsed.values
    if (format !== undefined && format !== 'csv' && format !== 'ndjson') {
      throw new ImportFault(`--format is csv or ndjson, not ${format}`)
    }
    const { from, mapping } = parsed.values
    if (from !== undefined && mapping !== undefined)
      throw new ImportFault('--from brings a mapping of its own: leave out --mapping')
    if (from !== undefined && !peers.has(from))
      throw new ImportFault(`--from is one of ${[...peers.keys()].join(', ')}, not "${from}"`)
    const { delimiter } = parsed.values
    if (delimiter !== undefined && delimiter.length !== 1) {
      throw new ImportFault(`--delimiter is one character, not "${delimiter}"`)
    }
    return { file, ...parsed.values, format: format as InputFormat | undefined }
  } catch (error) {
    if (error instanceof ImportFault) throw error
    throw new ImportFault(`${(error as Error).message}\n\n${importUsage}`)
  }
}

async function findTarget(
  given: { url?: string | undefined; datasource?: string | undefined; key?: string | undefined },
  dataDirectory: string,
): Promise<Target> {
  let known: Record<string, string> = {}
  if (!given.url || !given.datasource || !given.key) {
    const path = join(dataDirectory, 'bootstrap.json')
    try {
      known = JSON.parse(await readFile(path, 'utf8')) as Record<string, string>
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const what =
        code === 'ENOENT' || code === 'ENOTDIR'
          ? `There is no Millrace installation in ${dataDirectory}`
          : `${path} cannot be read: ${message}`
      throw new ImportFault(
        `${what}.\nSet MILLRACE_DATA_DIR to what your service has, run npm start first, or give --url, --datasource and --key.`,
      )
    }
  }
  const collector = (given.url ?? known.collectorUrl ?? '').replace(/\/+$/, '').replace(/\/collect$/, '')
  const datasource = given.datasource ?? known.datasourceId ?? ''
  const key = given.key ?? known.companyId ?? ''
  for (const [name, id] of [
    ['--datasource', datasource],
    ['--key', key],
  ] as const) {
    if (!/^[0-9a-f]{24}$/i.test(id))
      throw new ImportFault(`${name} is 24 hexadecimal characters, not "${id}"`)
  }
  if (!URL.canParse(collector))
    throw new ImportFault(`--url is an address such as http://127.0.0.1:8080, not "${collector}"`)
  return { url: `${collector}/collect/${datasource}/tracker`, datasource, key: key.toLowerCase() }
}

function count(map: Map<string, number>, name: string): void {
  map.set(name, (map.get(name) ?? 0) + 1)
}

/** Validates each event by the collector's own rules, and skips what an earlier run sent. */
async function* validated(
  events: AsyncIterable<Envelope>,
  skip: number,
  key: string,
  tally: Tally,
): AsyncIterable<Envelope> {
  for await (const event of events) {
    if (tally.skipped < skip) {
      tally.skipped++
      continue
    }
    const result = validateEvent(event, { companyId: key, receivedAt: Date.now() })
    if (!result.kept) count(tally.dropped, `${result.reason.rule}\0${result.reason.path}`)
    else for (const change of result.changes) count(tally.changed, `${change.rule}\0${change.path}`)
    yield event
  }
}

function ruleLines(map: ReadonlyMap<string, number>): string[] {
  return [...map]
    .toSorted((a, b) => b[1] - a[1])
    .map(([name, n]) => {
      const [rule = '', path = ''] = name.split('\0')
      const { title, fix } = eventRules[rule as keyof typeof eventRules]
      return `    ${grouped(n).padStart(10)}  ${path || 'event'}: ${title}. ${fix}`
    })
}

function leftOutLines({ leftOutBy }: Tally): string[] {
  if (leftOutBy.size === 0) return []
  const lines = [...leftOutBy]
    .toSorted((a, b) => b[1] - a[1])
    .map(([reason, n]) => `    ${grouped(n).padStart(10)}  ${reason}`)
  return ['', '  records left out', ...lines]
}

function lostLines(peer: Peer | undefined): string[] {
  if (!peer) return []
  return ['', `  what is not taken over from ${peer.title}`, ...peer.lost.map((each) => `    - ${each}`)]
}

function closingTable(
  tally: Tally,
  counted: DatasourceCounters | undefined,
  seconds: number,
  dryRun: boolean,
  peer: Peer | undefined,
): string {
  const dropped = [...tally.dropped.values()].reduce((sum, n) => sum + n, 0)
  const sent = tally.acknowledged
  const rows: [string, number, string][] = [
    ['records read', tally.records, ''],
    ['records left out', tally.leftOut, tally.leftOutBy.size > 0 ? 'see below' : 'by the mapping'],
    ['events made', tally.events, ''],
  ]
  if (tally.skipped > 0) rows.push(['events sent before', tally.skipped, 'by the interrupted run'])
  if (!dryRun)
    rows.push([
      'events sent',
      sent,
      `in ${formatDuration(seconds)}, ${grouped(sent / Math.max(seconds, 0.001))}/s`,
    ])
  rows.push(['accepted', (dryRun ? tally.events - tally.skipped : sent) - dropped, ''])
  if (counted) {
    rows.push(['  stored', counted.accepted, ''])
    rows.push(['  repeated', counted.duplicate, 'their event ids were known already'])
  }
  rows.push(['dropped', dropped, ''])
  const table = rows.map(([what, n, note]) =>
    `  ${what.padEnd(20)}${grouped(n).padStart(12)}  ${note}`.trimEnd(),
  )
  const why = tally.dropped.size > 0 ? ['', '  dropped, and why', ...ruleLines(tally.dropped)] : []
  const changed =
    tally.changed.size > 0 ? ['', '  accepted with a field changed', ...ruleLines(tally.changed)] : []
  return `${[...table, ...leftOutLines(tally), ...why, ...changed, ...lostLines(peer)].join('\n')}\n`
}

/** Of a dry run. */
const shownEvents = 3
const settleMilliseconds = 15_000

/** Waits until the service has loaded as many events as were sent, so that stored and repeated can be reported. */
async function countedSince(
  before: DatasourceCounters | undefined,
  read: (() => Promise<DatasourceCounters | undefined>) | undefined,
  expected: number,
): Promise<DatasourceCounters | undefined> {
  if (before === undefined || read === undefined) return undefined
  const until = performance.now() + settleMilliseconds
  for (;;) {
    const now = await read()
    if (now === undefined) return undefined
    const difference = {
      accepted: now.accepted - before.accepted,
      dropped: now.dropped - before.dropped,
      duplicate: now.duplicate - before.duplicate,
    }
    if (difference.accepted + difference.dropped + difference.duplicate >= expected) return difference
    if (performance.now() > until) return undefined
    await sleep(200)
  }
}

/**
 * The `import` command.
 * @returns exit code: 0 when every event was taken by the collector, 130 when interrupted
 * @throws ImportFault with a message for the terminal
 */
export async function runImport(argv: readonly string[], dependencies: ImportDependencies): Promise<number> {
  const given = readArguments(argv)
  const { output, signal } = dependencies
  const mapping = given.mapping === undefined ? undefined : await readMapping(given.mapping)
  const peer = given.from === undefined ? undefined : peers.get(given.from)
  const format = given.format ?? peer?.format
  const target = await findTarget(given, dependencies.dataDirectory)
  const input = await openInput(given.file, {
    ...(format === undefined ? {} : { format }),
    ...(given.delimiter === undefined ? {} : { delimiter: given.delimiter }),
  })
  const dryRun = given['dry-run'] === true
  const resume =
    given.file === '-' || dryRun
      ? noResume
      : await openResume(
          given.file,
          JSON.stringify({ mapping, from: given.from, target, format, delimiter: given.delimiter }),
        )
  const tally: Tally = {
    records: 0,
    leftOut: 0,
    leftOutBy: new Map(),
    events: 0,
    expected: undefined,
    acknowledged: 0,
    skipped: 0,
    dropped: new Map(),
    changed: new Map(),
  }
  if (resume.skip > 0)
    output.write(`Going on after ${grouped(resume.skip)} events that an interrupted import sent.\n`)
  const readCounters =
    dependencies.readCounters &&
    (() => dependencies.readCounters?.(target.datasource) ?? Promise.resolve(undefined))
  const before = dryRun ? undefined : await readCounters?.()
  const display = createProgressDisplay(output)
  const started = performance.now()
  const show = () =>
    display.update({
      bytesRead: input.bytesRead(),
      size: input.size,
      acknowledged: tally.acknowledged,
      expected: tally.expected === undefined ? undefined : tally.expected - tally.skipped,
      isReadingAhead: mapping?.groupBy !== undefined && tally.expected === undefined,
    })
  // Also while nothing is sent yet, or nothing is acknowledged for a while.
  const ticking = setInterval(show, 100).unref()
  const events = validated(
    mapRecords(input.records(), { mapping, peer }, target.key, tally),
    resume.skip,
    target.key,
    tally,
  )
  const shown: string[] = []
  let saving = Promise.resolve()
  let savedAt = 0
  try {
    if (dryRun) {
      for await (const event of events) {
        show()
        if (peer && shown.length < shownEvents) shown.push(JSON.stringify(event))
      }
    } else {
      await sendEvents(
        target.url,
        events,
        {
          onAcknowledged(eventsInOrder) {
            tally.acknowledged = eventsInOrder
            show()
            if (performance.now() - savedAt > 500) {
              savedAt = performance.now()
              saving = saving.then(() => resume.save(resume.skip + eventsInOrder)).catch(() => {})
            }
          },
          onRetry: (reason) => display.note(`Sending again: ${reason}`),
        },
        signal,
      )
    }
  } catch (error) {
    clearInterval(ticking)
    display.end()
    await saving
    if (resume !== noResume) await resume.save(resume.skip + tally.acknowledged).catch(() => {})
    if (!signal.aborted) throw error
    output.write(
      `Interrupted after ${grouped(tally.acknowledged)} events. The same command resumes from there.\n`,
    )
    return 130
  }
  const seconds = (performance.now() - started) / 1000
  clearInterval(ticking)
  display.end()
  await saving
  await resume.finish()
  if (shown.length > 0) output.write(`\nThe first events:\n${shown.join('\n')}\n`)
  const counted = await countedSince(before, readCounters, tally.acknowledged)
  output.write(`\n${closingTable(tally, counted, seconds, dryRun, peer)}`)
  return 0
}
