import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isFull, times } from '../support/long.ts'
import { onlineRetailFile, readInvoices, realDataAbsent } from '../support/online-retail.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

const long = isFull(import.meta.filename)

let service: Service
const directory = mkdtempSync(join(tmpdir(), 'millrace-import-'))

beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await service.stop()
  removeData(service)
})

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs the command line as an operator does, beside the service or without it. */
async function millrace(
  args: readonly string[],
  { interruptAt, killAfterMs }: { interruptAt?: RegExp; killAfterMs?: number } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, ['packages/server/src/main.ts', ...args], {
    cwd: new URL('../../../../', import.meta.url).pathname,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: 'node_modules/.cache/node',
      MILLRACE_DATA_DIR: service.dataDirectory,
    },
  })
  let output = ''
  const collect = (chunk: Buffer): void => {
    output += chunk
    if (interruptAt?.test(output)) child.kill('SIGINT')
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const killing = killAfterMs !== undefined && setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (killing) clearTimeout(killing)
  return { code, output }
}

async function counters(): Promise<Record<string, number>> {
  const reply = await service.call('GET', `/v2/datasources/${service.datasourceId}/counters`)
  return ((await reply.json()) as { data: Record<string, number> }).data
}

/** What is imported, and what has to be in the statistics then. */
interface Imported {
  readonly file: string
  readonly people: number
  readonly purchases: number
  readonly revenue: number
}

const whole: Imported = {
  file: onlineRetailFile,
  people: 4_338,
  purchases: 19_960,
  revenue: 10_666_684.54,
}

/** The first fifth or so of the data set: enough to be interrupted. */
async function excerpt(): Promise<Imported> {
  const file = join(directory, 'online-retail.csv.gz')
  const lines = gunzipSync(readFileSync(onlineRetailFile)).toString().split('\n').slice(0, 100_000)
  writeFileSync(file, gzipSync(`${lines.join('\n')}\n`))
  const invoices = await readInvoices(service.companyId, file)
  const cents = invoices.reduce((sum, { value }) => sum + Number((value ?? '0').replace('.', '')), 0)
  const people = new Set(invoices.map(({ clientId }) => clientId).filter((id) => id !== ''))
  return { file, people: people.size, purchases: invoices.length, revenue: cents / 100 }
}

async function ask(): Promise<unknown> {
  const rows = await service.query({
    measures: ['events.identifiedPeople', 'purchases.count', 'purchases.revenue'],
    dimensions: [],
    filters: [],
    timeDimensions: [],
  })
  return rows[0]
}

async function untilLoaded(events: number): Promise<Record<string, number>> {
  return until(async () => {
    const counted = await counters()
    return (counted.accepted ?? 0) + (counted.duplicate ?? 0) >= events && counted
  }, 100)
}

describe('the real data set through the collector', () => {
  it('imported, interrupted and imported again counts every purchase once', async ({ skip }) => {
    if (realDataAbsent) return skip(realDataAbsent)
    const { file, people, purchases, revenue } = long ? whole : await excerpt()
    const importReal = ['import', file, '--mapping', 'online-retail']
    const figures = {
      'events.identifiedPeople': people,
      'purchases.count': purchases,
      'purchases.revenue': revenue,
    }
    const interrupted = await millrace(importReal, { interruptAt: /\b[1-9]\d?(\.\d)? ?%/ })
    expect(interrupted.code, interrupted.output).not.toBe(0)
    for (let kill = 0; kill < times(50, 1); kill++)
      await millrace(importReal, { killAfterMs: randomInt(500, 4_000) })

    const finished = await millrace(importReal)
    expect(finished, finished.output).toMatchObject({ code: 0 })
    expect(await untilLoaded(purchases)).toMatchObject({ accepted: purchases, dropped: 0 })
    expect(await ask()).toEqual(figures)

    if (long) {
      const { duplicate: before = 0 } = await counters()
      const repeated = await millrace(importReal)
      expect(repeated, repeated.output).toMatchObject({ code: 0 })
      expect(await untilLoaded(2 * purchases + before)).toMatchObject({
        accepted: purchases,
        dropped: 0,
        duplicate: purchases + before,
      })
      expect(await ask()).toEqual(figures)
    }
    // The same events again are no reused identifiers.
    const log = await service.call('GET', `/v2/datasources/${service.datasourceId}/logs?kind=noted`)
    expect(((await log.json()) as { data: unknown[] }).data).toEqual([])
  })
})

describe('operator commands', () => {
  it('work beside a running service and on a stopped one', async () => {
    const created: string[] = []
    const createOne = async (name: string): Promise<void> => {
      const { code, output } = await millrace(['datasource', 'create', '--name', name, '--json'])
      expect(code, output).toBe(0)
      created.push((JSON.parse(output) as { id: string }).id)
    }
    await createOne('beside')
    const listed = await service.call('GET', '/v2/datasources')
    expect(JSON.stringify(await listed.json())).toContain(created[0])

    await service.stop()
    await createOne('stopped')
    expect(await millrace(['user', 'create', '--email', 'ann@shop.example'])).toMatchObject({ code: 0 })
    expect(await millrace(['user', 'create', '--email', 'ann@shop.example'])).not.toMatchObject({ code: 0 })

    service = await startService({ dataDirectory: service.dataDirectory })
    const after = JSON.stringify(await (await service.call('GET', '/v2/datasources')).json())
    for (const id of created) expect(after).toContain(id)
  })
})
