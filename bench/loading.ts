/**
 * Speed of loading against the engine's own `INSERT ... SELECT ... FROM file()` of the same rows, in one run: batches
 * of several sizes on top of a number of known keys. Both are also given per second of the engine's processor time,
 * which other work on the machine disturbs less than time by the clock.
 * Run: node bench/loading.ts [million known keys] [rounds] [sizes, comma separated]
 */
import { EventEmitter, once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createLoaderService,
  type LoaderDependencies,
  type LoaderService,
} from '../packages/server/src/features/events/loading/loader-service.ts'
import { createLoaderStore } from '../packages/server/src/features/events/loading/loader-store.ts'
import { systemClock } from '../packages/server/src/platform/clock.ts'
import { type Logger, silentLogger } from '../packages/server/src/platform/logger.ts'
import { readMigrations } from '../packages/server/src/platform/migrations/migrations.ts'
import { splitStatements } from '../packages/server/src/platform/migrations/sql-statements.ts'
import { giveMemoryBack } from '../packages/server/src/platform/processes/memory.ts'
import { embeddedColumnar } from '../packages/server/src/platform/stores/columnar-embedded.ts'
import { comparePositions, type Position } from '../packages/server/src/platform/stores/event-log.ts'
import { openSegmentLog } from '../packages/server/src/platform/stores/segment-log.ts'

const keys = Number(process.argv[2] ?? 10) * 1e6
const rounds = Number(process.argv[3] ?? 5)
/** Batches of a backlog that are loaded in one go. */
const batchesPerRound = 12
const sizes = (process.argv[4] ?? '100,1000,15000,200000,600000').split(',').map(Number)
const directory = mkdtempSync(join(tmpdir(), 'bench-loading-'))
const company = '64b7f0a1c2d3e4f5a6b7c8d9'
const datasource = '65c8a1b2d3e4f5061728394a'

/** Rows of a shop, as the collector writes them: about 315 bytes each. */
const rowsOf = (first: number, count: number): string => {
  let lines = ''
  const now = Date.now()
  for (let q = first; q < first + count; q++) {
    const visitor = (q * 2_654_435_761) % 500_000
    const name = ['product_page', 'product_page', 'category_view', 'product_page', 'add_cart'][q % 5]
    const special =
      q % 33 === 0
        ? `"n":"purchase","v":"${q % 200}.50","x":"T${q}"`
        : `"n":"${q % 50 === 7 ? 'identify' : name}"`
    const id = `${q.toString(16).padStart(16, '0')}${((q * 40_503) % 2 ** 40).toString(16).padStart(16, '0')}`
    const uuid = `${id.slice(0, 8)}-${id.slice(8, 12)}-4${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20)}`
    lines += `{"q":${q},"z":"e","k":"${company}","d":"${datasource}","r":${now},"dt":"mobile","os":"iOS","br":"Safari","t":${now - (q % 2_000)},"e":"${uuid}",${special},"u":"https://www.shop.example/p/product-name-${visitor % 5_000}","p":"ckmqzsn8yjdztwpg8zvq${visitor}"${visitor % 3 === 0 ? `,"c":"cust-${visitor}"` : ''},"i":["SKU${q % 5_000}"],"l":{"store":"store${visitor % 20}"}}\n`
  }
  return lines
}

const home = embeddedColumnar({ dataDirectory: directory, logger: silentLogger })
const { columnar } = home
const log = await openSegmentLog({ directory: join(directory, 'log'), backlogBytes: 1e9 })

/** The engine's processor time so far, in milliseconds. */
const engineTime = (): number => {
  const stat = readFileSync(`/proc/${home.child.status().pid}/stat`, 'utf8')
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return (user + system) * 10
}
interface Took {
  readonly wall: number
  readonly engine: number
  readonly own: number
}
const timed = async (work: () => Promise<unknown>): Promise<Took> => {
  const [wall, engine, own] = [performance.now(), engineTime(), process.cpuUsage()]
  await work()
  const used = process.cpuUsage(own)
  return {
    wall: performance.now() - wall,
    engine: engineTime() - engine,
    own: (used.user + used.system) / 1_000,
  }
}
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const structure =
  'q UInt64, k String, d String, t Int64, r Int64, e String, n String, u String, p String, c String, i Array(String), v String, x String, l Map(String, String), dt String, os String, br String'
const columns =
  'seq, company, datasource, time, received, event_uuid, name, url, tmp_id, client_id, ids, value, trans_id, labels, device_type, os, browser, device, client'
const values = `q, k, d, fromUnixTimestamp64Milli(t, 'UTC'), fromUnixTimestamp64Milli(r, 'UTC'), toUUIDOrZero(e), n, u, p, c, i, toDecimal64OrNull(v, 2), x, l, dt, os, br, sipHash64(p), if(c = '', 0, sipHash64(c))`

/**
 * Puts new rows into a file and, for a backlog, into the log. Cleans up behind itself: a collection must not fall
 * into a measurement.
 * @returns the rows that are not in the log yet
 */
const prepare = async (file: string, size: number, isBacklog: boolean): Promise<string> => {
  const first = log.reserve(size)
  writeFileSync(file, '')
  let text = ''
  for (let at = 0; at < size; at += 1_000) {
    const count = Math.min(1_000, size - at)
    const rows = rowsOf(first + at, count)
    appendFileSync(file, rows)
    if (isBacklog) await log.append(rows, count, first + at)
    else text += rows
  }
  giveMemoryBack()
  return text
}

let checkpoint: Position | undefined
let isHeld = false
const released = new EventEmitter()
/** A log behind which a backlog can gather while the loader waits. */
const heldLog: LoaderDependencies['log'] = {
  read: (...range) => log.read(...range),
  release: (position) => log.release(position),
  start: () => log.start(),
  state: () => log.state(),
  end: () => log.end(),
  async changed(position, signal) {
    await log.changed(position, signal)
    if (isHeld) await once(released, 'now', { signal }).catch(() => undefined)
  },
}
const hold = (): void => {
  isHeld = true
}
const release = (): void => {
  isHeld = false
  released.emit('now')
}

/**
 * A loader as in the service, without a relational store. Resolves when it has all known keys in memory, like one that
 * has run for a few seconds.
 */
const startLoader = async (size: number): Promise<LoaderService> => {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  const loader = createLoaderService({
    log: heldLog,
    store: createLoaderStore({ columnar, threads: 2 }),
    checkpoints: {
      tryLock: async () => ({
        enter: async () => {},
        check: async () => {},
        leave: async () => {},
        release: () => {},
      }),
      find: async () => checkpoint,
      async commit(_from, to) {
        checkpoint = to
      },
    },
    ledger: { listLeaving: async () => ({ purged: [], uncounted: [] }) },
    remover: { begin: () => async () => {} },
    clock: systemClock,
    logger: {
      ...silentLogger,
      debug: (_fields: object, message?: string) => message?.includes('known keys are in') && resolve(),
      warn: (fields: object) => reject(new Error('The loader warns', { cause: fields })),
    } as Logger,
    limits: { batchBytes: size * 330, intervalMs: 0 },
  })
  loader.start()
  await ready
  return loader
}
const loaded = async (loader: LoaderService): Promise<void> => {
  const end = log.end()
  while (comparePositions(checkpoint ?? log.start(), end) < 0) {
    const { error } = loader.state()
    if (error !== undefined) throw new Error(error)
    await sleep(5)
  }
}

try {
  await home.child.start()
  for (const { sql } of readMigrations(
    join(import.meta.dirname, '../packages/server/src/database/columnar'),
  )) {
    for (const { text } of splitStatements(sql)) await columnar.command({ sql: text })
  }
  await columnar.command({ sql: 'CREATE TABLE plain AS events' })
  await columnar.command({
    sql: `INSERT INTO event_keys SELECT sipHash64(number), sipHash64(number, 1), number, now64(3) - number % 500000
          FROM numbers(${keys})`,
  })
  await columnar.command({ sql: 'OPTIMIZE TABLE event_keys FINAL' })
  // Merges follow both ways of loading alike, and would fall into the other one's time.
  await columnar.command({ sql: 'SYSTEM STOP MERGES' })
  const table: Record<string, Record<string, number | string>> = {}
  for (const size of sizes) {
    const plain: Took[] = []
    const load: Took[] = []
    // A backlog waits for its loader; few rows meet one that waits for them.
    const isBacklog = size >= 50_000
    const perRound = isBacklog ? batchesPerRound : 1
    const loader = await startLoader(size)
    for (let round = 0; round <= rounds; round++) {
      if (isBacklog) hold()
      const files = Array.from({ length: perRound }, (_, index) => join(directory, `rows-${index}.ndjson`))
      let text = ''
      for (const file of files) text = await prepare(file, size, isBacklog)
      const insert = (file: string): Promise<void> =>
        columnar.command({
          sql: `INSERT INTO plain (${columns}) SELECT ${values} FROM file('${file}', 'JSONEachRow', '${structure}')`,
          settings: { optimize_on_insert: 0 },
        })
      const one = await timed(async () => {
        for (const file of files) await insert(file)
      })
      const two = await timed(async () => {
        if (isBacklog) release()
        else await log.append(text, size, log.reserve(size))
        await loaded(loader)
      })
      if (round > 0) {
        plain.push(one)
        load.push(two)
      }
    }
    await loader.stop()
    const middle = (of: Took[], key: keyof Took): number => median(of.map((took) => took[key])) / perRound
    table[`${size} rows`] = {
      'file() ms': Math.round(middle(plain, 'wall')),
      'load ms': Math.round(middle(load, 'wall')),
      'rows/s': Math.round((size / middle(load, 'wall')) * 1_000),
      'of file()': Number((middle(plain, 'wall') / middle(load, 'wall')).toFixed(2)),
      'file() CPU ms': Math.round(middle(plain, 'engine')),
      'load CPU ms': Math.round(middle(load, 'engine')),
      'own CPU ms': Math.round(middle(load, 'own')),
    }
  }
  console.log(`${keys / 1e6} million known keys, medians of ${rounds}`)
  console.table(table)
} finally {
  await log.close()
  await columnar.close()
  await home.child.stop()
  rmSync(directory, { recursive: true, force: true })
}
