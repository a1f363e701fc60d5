import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { companyId, datasourceId, startCollector } from '../support/collector.ts'

const source = join(import.meta.dirname, '../../../sdk/src')

/** What Node, Deno, Bun, workers at the edge and browsers have alike. */
const webGlobals = {
  AbortController,
  AbortSignal,
  Blob,
  Headers,
  ReadableStream,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  clearTimeout,
  console,
  crypto,
  fetch,
  performance,
  setTimeout,
}

let collector: Awaited<ReturnType<typeof startCollector>>
beforeAll(async () => {
  collector = await startCollector()
})
afterAll(() => collector.stop())

async function bundle(entry: string): Promise<string> {
  const bundled = await rolldown({ input: join(source, entry), logLevel: 'silent' })
  const { output } = await bundled.generate({ format: 'iife', name: 'sdk', minify: true })
  await bundled.close()
  return output[0].code
}

interface Module {
  createEventSender(options: unknown): {
    send(event: unknown): boolean
    close(): Promise<{ undelivered: unknown[] }>
  }
}

test.each([
  ['everything that Node has', { CompressionStream }],
  ['no CompressionStream, as in some runtimes', {}],
  ['timers that are numbers, as in browsers and workers', { setTimeout: setNumberedTimeout }],
])('the event sender works with nothing but web globals: %s', async (_, globals) => {
  const context = createContext({ ...webGlobals, ...globals, options: undefined })
  const sdk = runInContext(`${await bundle('events/index.ts')};sdk`, context) as Module
  const sender = sdk.createEventSender({
    collectorUrl: `http://127.0.0.1:${collector.port}`,
    companyId,
    datasourceId,
    flushInterval: 0,
  })
  for (let i = 0; i < 30; i++) expect(sender.send({ name: 'view', tmpId: `t${i}`, data: { i } })).toBe(true)
  expect((await sender.close()).undelivered).toHaveLength(0)
  expect((await collector.rows()).filter(({ z }) => z === 'e')).toHaveLength(30)
})

/** As the web has it: the timer keeps nothing alive that is not otherwise awaited. */
function setNumberedTimeout(callback: () => void, ms: number): number {
  return Number(setTimeout(callback, ms))
}

/** A program of Node that uses the sender's source, and what it prints. */
async function run(program: string): Promise<string> {
  const sender = JSON.stringify(join(source, 'events/index.ts'))
  const options = JSON.stringify({ collectorUrl: 'http://127.0.0.1:9', companyId, datasourceId })
  const text = `import { createEventSender } from ${sender}
    const sender = createEventSender({ ...${options}, onDrop() {} })
    sender.send({ name: 'view', tmpId: 't' })
    ${program}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', text])
  return stdout
}

test('a process ends although events wait, and stays until they are delivered or given back by close', async () => {
  expect(await run(`console.log('ends')`)).toBe('ends\n')
  // A promise that nothing keeps the process alive for would end it with code 13, before the line.
  const closing = `await new Promise((resolve) => setTimeout(resolve, 1100))
    console.log((await sender.close({ timeoutMs: 300 })).undelivered.length)`
  expect(await run(closing)).toBe('1\n')
  expect(await run(`console.log(await sender.flush({ timeoutMs: 300 }))`)).toBe('false\n')
})

test('the event sender and experiments are small enough for a worker', async () => {
  // The rules of events are most of it; a shape of the contract with its schemas would be a hundred times as much.
  expect((await bundle('events/index.ts')).length).toBeLessThan(40_000)
  expect((await bundle('experiments/index.ts')).length).toBeLessThan(15_000)
})

test('no source of the SDK imports a module of Node', () => {
  const sources = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => [path, readFileSync(join(source, path), 'utf8')] as const)
  expect(sources.length).toBeGreaterThan(10)
  const offending = sources.filter(([, text]) => /from ['"]node:|import\(|\bprocess\.|\bBuffer\b/.test(text))
  expect(offending.map(([path]) => path)).toEqual([])
})
