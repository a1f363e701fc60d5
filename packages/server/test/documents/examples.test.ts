import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserAbsent, launchBrowser } from '../support/chromium.ts'
import { blocksOf, type DocumentPage, documentPages } from '../support/documents/blocks.ts'
import { type Printed, runPage } from '../support/documents/run-page.ts'
import { makeClone, type StartedService } from '../support/documents/session.ts'
import { inFullLengthOnly } from '../support/long.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

const chosen = process.env.MILLRACE_TEST_PAGE?.split(',')
const pages = documentPages().filter(({ name }) => chosen === undefined || chosen.includes(name))

const runnable = new Set(['sh', 'ts', 'js', 'python', 'php', 'html', 'kotlin', 'swift', 'dart'])
const shown = new Set(['', 'text', 'sql', 'json'])
/** No word of a block may be misspelled. */
const words = new Set(['answer', 'same', 'opened', 'refused', 'service'])

function interpreter(name: string): string | undefined {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
const interpreters = { python: interpreter('python3'), php: interpreter('php') }

let browser: Browser | undefined
const services: Service[] = []
let shared: Service | undefined

beforeAll(async () => {
  if (!browserAbsent) browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  for (const service of services) {
    await service.stop()
    removeData(service)
  }
})

async function newService(): Promise<Service> {
  const service = await startService()
  services.push(service)
  return service
}

const uses = (page: DocumentPage, word: string): boolean =>
  page.blocks.some((block) => block.words.includes(word))
const runs = (page: DocumentPage): boolean =>
  page.blocks.some(({ language, reason }) => runnable.has(language) && reason === undefined)

/** Equal values need a service that nothing else has sent events to. */
const needsOwnService = (page: DocumentPage): boolean => uses(page, 'same')
/**
 * Of the pages with a service of their own the first one that is read runs in the short form too, and those
 * asked for.
 */
const isInShortForm = (name: string): boolean => chosen !== undefined || name === 'quick-start'

test.for(pages)('every block of $name has a known language and words, and JSON is JSON', ({ blocks }) => {
  for (const block of blocks) {
    expect([...runnable, ...shown]).toContain(block.language)
    for (const word of block.words) expect([...words]).toContain(word)
    if (block.words.includes('answer')) expect(['json', 'text']).toContain(block.language)
    if (block.language === 'json' && block.reason === undefined) JSON.parse(block.code)
  }
})

test('few blocks are not run, each for a reason', () => {
  const left = documentPages().flatMap(({ name, blocks }) =>
    blocks.flatMap(({ reason, number }) => (reason === undefined ? [] : [{ page: name, number, reason }])),
  )
  expect(left.filter(({ reason }) => !/\w+ \w+/.test(reason))).toEqual([])
  expect(left.length).toBeLessThanOrEqual(12)
})

/** A service as `startService` leaves it, in the terms of a page. */
function printedBy(service: Service): Printed {
  const { companyId: company, datasourceId: datasource, clientId: client, admin, token } = service
  return { company, datasource, client, ...admin, token }
}

/** What a newcomer reads in the terminal and in bootstrap.json. */
async function readPrinted(path: string, { banner }: StartedService): Promise<Printed> {
  const values = JSON.parse(readFileSync(join(path, 'data/bootstrap.json'), 'utf8')) as Record<string, string>
  const { companyId = '', datasourceId = '', clientId = '', adminEmail = '' } = values
  const password = /^ {2}password +(\S+)/m.exec(banner)?.[1] ?? ''
  return {
    company: companyId,
    datasource: datasourceId,
    client: clientId,
    email: adminEmail,
    password,
    token: '',
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test.for(pages.filter((page) => runs(page) && uses(page, 'service')))(
  'a newcomer can follow $name from nothing, by its own commands alone',
  async ({ name }, context) => {
    if (!isInShortForm(name)) inFullLengthOnly(context)
    const origin = `http://127.0.0.1:${await freePort()}`
    const file = name === 'README' ? 'README.md' : `docs/${name}.md`
    const source = readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8')
    const page = { name, blocks: blocksOf(source.replaceAll('http://127.0.0.1:8080', origin)) }
    const clone = makeClone()
    try {
      const faults = await runPage({
        page,
        clone,
        origin,
        interpreters,
        readPrinted: (service) => readPrinted(clone.path, service),
        ...(browser && { browser }),
      })
      expect(faults.join('; ')).toBe('')
    } finally {
      clone.remove()
    }
  },
)

test.for(pages.filter((page) => runs(page) && !uses(page, 'service')))(
  'the examples of $name do what the page says',
  async (page, context) => {
    if (needsOwnService(page) && !isInShortForm(page.name)) inFullLengthOnly(context)
    if (!needsOwnService(page)) shared ??= await newService()
    const service = (needsOwnService(page) ? undefined : shared) ?? (await newService())
    const origin = new URL(service.baseUrl).origin
    const served = page.name === 'README' ? undefined : await fetch(`${origin}/docs/${page.name}.md`)
    const blocks = served ? blocksOf(await served.text()) : page.blocks
    expect(blocks).toHaveLength(page.blocks.length)
    const clone = makeClone(service.dataDirectory)
    try {
      const faults = await runPage({
        page: { name: page.name, blocks },
        clone,
        origin,
        printed: printedBy(service),
        interpreters,
        readPrinted: (started) => readPrinted(clone.path, started),
        ...(browser && { browser }),
      })
      expect(faults.join('; ')).toBe('')
    } finally {
      clone.remove()
    }
  },
)

test.for(Object.entries(interpreters))('examples in %s are run', ([language, found], context) => {
  const needed = pages.some(({ blocks }) =>
    blocks.some((block) => block.language === language && block.reason === undefined),
  )
  if (needed && !found)
    context.skip(`no interpreter of ${language} (Debian: apt-get install python3 php-cli)`)
})

test('examples in HTML are opened', (context) => {
  if (browserAbsent) context.skip(browserAbsent)
})
