import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DomainError } from '../../platform/errors.ts'
import { failure } from '../../platform/http/envelope.ts'
import { runImport } from './import-command.ts'

const key = '0123456789abcdef01234567'
const datasource = 'abcdef0123456789abcdef01'

const faults = new Map<number, DomainError>([
  [404, new DomainError('datasourceNotFound', { id: datasource })],
  [503, new DomainError('collectorOverloaded')],
])

let server: Server
let url = ''
let directory = ''
let received: { eventId: string }[] = []
/** Decides on each request: a status, or 'cut' for a connection that ends without an answer. */
let answer: (request: number) => number | 'cut' = () => 200

beforeEach(async () => {
  received = []
  answer = () => 200
  let requests = 0
  server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const status = answer(++requests)
      if (status === 'cut') return request.socket.destroy()
      if (status === 200) received.push(...(JSON.parse(text) as { eventId: string }[]))
      const fault = faults.get(status)
      if (!fault) return response.writeHead(status).end()
      const headers = { 'content-type': 'application/json', ...(status === 503 && { 'retry-after': '0' }) }
      response.writeHead(status, headers).end(JSON.stringify(failure(fault)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  directory = await mkdtemp(join(tmpdir(), 'millrace-import-'))
})

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  await rm(directory, { recursive: true })
})

async function run(
  lines: string,
  options: { arguments?: string[]; signal?: AbortSignal; name?: string } = {},
) {
  const file = join(directory, options.name ?? 'events.ndjson')
  if (lines) await writeFile(file, lines)
  let text = ''
  const code = await runImport(
    [file, '--url', url, '--datasource', datasource, '--key', key, ...(options.arguments ?? [])],
    {
      dataDirectory: directory,
      output: {
        write: (part) => {
          text += part
        },
      },
      signal: options.signal ?? new AbortController().signal,
    },
  )
  return { code, text }
}

const lines = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) =>
      `${JSON.stringify({ name: 'visit', url: 'https://a.example/', tmpId: `t${i}`, data: {}, eventId: `e${i}`, v: 1 })}\n`,
  ).join('')

test('sends every event and ends with a table of what was accepted and dropped, and why', async () => {
  const faulty = `${JSON.stringify({ name: 'purchase', url: 'x', tmpId: 't', data: { ids: ['a'], value: '1;2' }, eventId: 'bad', v: 1 })}\n`
  const { code, text } = await run(lines(1200) + faulty)
  expect(code).toBe(0)
  expect(received).toHaveLength(1201)
  expect(text).toMatch(/events sent\s+1,201/)
  expect(text).toMatch(/accepted\s+1,200/)
  expect(text).toMatch(/dropped\s+1\n/)
  expect(text).toMatch(/1 {2}data\.value: /)
})

test('sends again after a cut connection and after 503', async () => {
  answer = (request) => (request === 1 ? 'cut' : request === 2 ? 503 : 200)
  const { code } = await run(lines(600))
  expect(code).toBe(0)
  expect(new Set(received.map((event) => event.eventId)).size).toBe(600)
})

test('a refusal that will not pass ends the import with its reason', async () => {
  answer = () => 404
  await expect(run(lines(10))).rejects.toThrow(/refused the events with 404/)
})

test('an interrupted import resumes where it stopped, and leaves no state file behind', async () => {
  const controller = new AbortController()
  answer = (request) => {
    if (request === 8) controller.abort()
    return 200
  }
  const first = await run(lines(20_000), { signal: controller.signal })
  expect(first.code).toBe(130)
  expect(first.text).toMatch(/The same command resumes from there/)
  const before = received.length
  expect(before).toBeLessThan(20_000)
  const second = await run('')
  expect(second.code).toBe(0)
  expect(second.text).toMatch(/Going on after [\d,]+ events/)
  expect(new Set(received.map((event) => event.eventId)).size).toBe(20_000)
  // What was under way at the interruption may be sent twice; its event ids keep it from counting twice.
  expect(received.length - 20_000).toBeLessThanOrEqual(4 * 500)
  expect(await readdir(directory)).toEqual(['events.ndjson'])
})

test('a dry run validates and sends nothing', async () => {
  const { text } = await run(lines(3), { arguments: ['--dry-run'] })
  expect(received).toHaveLength(0)
  expect(text).toMatch(/accepted\s+3/)
})

test.each([
  [[], /Name a file/],
  [['a', 'b'], /one file at a time; b is left over/],
  [['a.ndjson', '--mappign', 'x'], /Unknown option '--mappign'/],
  [['a.xlsx'], /format of a\.xlsx is not known/],
  [['a.csv', '--format', 'xml'], /--format is csv or ndjson, not xml/],
])('says what is wrong with the arguments %j', async (argv, message) => {
  const call = runImport(
    [...argv, ...(argv.length === 1 ? ['--url', url, '--datasource', datasource, '--key', key] : [])],
    {
      dataDirectory: directory,
      output: { write: () => {} },
      signal: new AbortController().signal,
    },
  )
  await expect(call).rejects.toThrow(message)
})

test('without a data directory it says what to give instead', async () => {
  const call = runImport(['a.ndjson'], {
    dataDirectory: directory,
    output: { write: () => {} },
    signal: new AbortController().signal,
  })
  await expect(call).rejects.toThrow(/no Millrace installation in .*--url, --datasource and --key/s)
})
