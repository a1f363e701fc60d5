/**
 * An import of many rows: how long it takes, with what memory, what it leaves of the collector's rate, and how soon a row
 * is found by its key afterwards.
 * Run: `npm run bench -- datasources [--rows 1000000] [--lookups 2000] [--seconds 10]`
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createWorkerStore } from '../packages/server/src/features/datasources/refreshes/worker-store.ts'
import { createRowReader } from '../packages/server/src/features/datasources/rows/row-reader.ts'
import { silentLogger } from '../packages/server/src/platform/logger.ts'
import { embeddedAddresses } from '../packages/server/src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../packages/server/src/platform/stores/relational.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { printTable, type Row } from './support/machine.ts'
import { driveEvents } from './support/wrk.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    lookups: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '10' },
  },
})
const count = Number(values.rows)
const lookups = Number(values.lookups)
const seconds = Number(values.seconds)

const service = await startService()
const { application } = embeddedAddresses(join(service.dataDirectory, 'run'))
const relational = openRelational({ address: application, logger: silentLogger, connections: 2 })

interface Import {
  readonly state: string
  readonly progress: number | null
  readonly rowsStored: number
  readonly startedAt: string
  readonly endedAt: string | null
}

const keyOf = (i: number): string => `SKU-${((i * 7_919) % 100_000_007).toString().padStart(9, '0')}`

function* products(): Generator<Buffer> {
  let text = 'sku,name,brand,price,stock,url,category,updated\n'
  for (let i = 0; i < count; i++) {
    text += `${keyOf(i)},"Product ${i}, size ${i % 40}",Brand ${i % 500},${(i % 10_000) / 100},${i % 300},https://shop.example/p/${i},Shoes > Running > ${i % 30},2026-01-${String(1 + (i % 28)).padStart(2, '0')}T10:00:00Z\n`
    if (text.length > 1_000_000) {
      yield Buffer.from(text)
      text = ''
    }
  }
  yield Buffer.from(text)
}

/** Bytes of memory that the process has held at most. */
function peakMemory(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) * 1024
}

async function upload(id: string): Promise<{ bytes: number; seconds: number }> {
  let bytes = 0
  const began = performance.now()
  const pieces = products()
  const body = new ReadableStream({
    pull(controller) {
      const { value, done } = pieces.next()
      if (done) return controller.close()
      bytes += value.length
      controller.enqueue(value)
    },
  })
  const reply = await fetch(`${service.baseUrl}/datasources/${id}/content?fileName=products.csv`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/octet-stream' },
    body,
    duplex: 'half',
  } as RequestInit)
  if (!reply.ok) throw new Error(await reply.text())
  return { bytes, seconds: (performance.now() - began) / 1000 }
}

const driven = () => driveEvents({ url: service.trackerUrl, key: service.companyId, seconds })

async function finished(id: string): Promise<{ last: Import; steps: number }> {
  const seen = new Set<number>()
  for (;;) {
    const [last] = await service.dataOf<Import[]>('GET', `/datasources/${id}/imports`)
    if (last?.progress) seen.add(last.progress)
    if (last && last.state !== 'queued' && last.state !== 'running') return { last, steps: seen.size }
    await sleep(200)
  }
}

const secondsOf = ({ startedAt, endedAt }: Import): number =>
  (Date.parse(endedAt ?? '') - Date.parse(startedAt)) / 1000

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

try {
  const { id } = await service.dataOf<{ id: string }>('POST', '/datasources', {
    name: 'Products',
    mode: 'worker',
    source: { type: 'file' },
  })
  const uploaded = await upload(id)
  const { fields } = await service.dataOf<{ fields: Record<string, unknown>[] }>(
    'POST',
    `/datasources/worker/${id}/analyzer`,
  )
  await service.dataOf('PATCH', `/datasources/${id}/fields`, {
    fields: fields.map((field) => ({ ...field, selected: true, isKey: field.name === 'sku' })),
  })
  await service.dataOf('POST', `/datasources/${id}/versions/live`)
  const { last, steps } = await finished(id)
  if (last.state !== 'done') throw new Error(JSON.stringify(last))
  const memory = peakMemory(service.pid)

  const alone = await driven()
  await service.dataOf('POST', `/datasources/${id}/versions/live`)
  await sleep(1_500)
  const during = await driven()
  const beside = (await finished(id)).last

  const reader = createRowReader({
    relational,
    findLive: createWorkerStore(relational.db).findLive,
    now: Date.now,
    steadyClock: performance,
  })
  const times: number[] = []
  for (let i = 0; i < lookups; i++) {
    const began = performance.now()
    const { rows } = await reader.queryRows({
      companyId: service.companyId,
      datasourceId: id,
      match: 'and',
      filters: [{ field: 'sku', operator: '$eq', value: keyOf(Math.floor(Math.random() * count)) }],
      limit: 1,
      signal: new AbortController().signal,
    })
    if (rows.length !== 1) throw new Error('a key has one row')
    times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  const taken = secondsOf(last)
  const rows: Row[] = [
    [
      `${count} rows of CSV (${Math.round(uploaded.bytes / 1e6)} MB) uploaded`,
      `${uploaded.seconds.toFixed(1)} s`,
      '',
      '',
    ],
    ['imported', `${taken.toFixed(1)} s`, `${Math.round(last.rowsStored / taken)} rows/s`, '< 30 s'],
    ['figures of progress seen on the way', String(steps), '', '> 1'],
    ['peak memory of the service', `${Math.round(memory / 1e6)} MB`, '', ''],
    [
      'imported while events come',
      `${secondsOf(beside).toFixed(1)} s`,
      (secondsOf(beside) / taken).toFixed(2),
      '',
    ],
    [
      'rate of the collector meanwhile',
      `${Math.round(during.requestsPerSecond)}/s of ${Math.round(alone.requestsPerSecond)}/s`,
      (during.requestsPerSecond / alone.requestsPerSecond).toFixed(2),
      '',
    ],
    ['look-up by key, p50', `${quantile(times, 0.5).toFixed(2)} ms`, '', '< 5 ms'],
    ['look-up by key, p99', `${quantile(times, 0.99).toFixed(2)} ms`, '', ''],
  ]
  printTable('Datasources', rows)
} finally {
  await relational.close()
  await service.stop()
  removeData(service)
}
