import { existsSync, statSync } from 'node:fs'
import { errorTable } from '@millrace/contract/errors.ts'
import { allOperations } from '@millrace/contract/operations/all.ts'
import { expect, test } from 'vitest'
import { readPages, storedPages } from '../../src/platform/http/documents/page-library.ts'
import { pageGroups } from '../../src/platform/http/documents/page-list.ts'
import { referencePage } from '../../src/platform/http/documents/reference-page.ts'

const addresses = { baseUrl: 'http://127.0.0.1:8080/v2', collectorUrl: 'http://127.0.0.1:8080' }
const groups = readPages(addresses)
const pages = groups.flatMap((group) => group.pages)

test('the list names every page of docs/ once, and no other', () => {
  const listed = pageGroups.flatMap((group) => group.pages.map(({ name }) => name))
  expect(listed.toSorted()).toEqual(storedPages().toSorted())
})

test.for(pages)('$name has one title', ({ headings, source }) => {
  expect(headings.filter(({ level }) => level === 1)).toHaveLength(1)
  expect(source).toMatch(/^# /)
})

const reference = referencePage(allOperations, { addresses, version: '1', groups })
const anchorsOf = (markup: string): Set<string> =>
  new Set([...markup.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id))
const anchors = new Map([
  ['/docs', anchorsOf(reference)],
  ...pages.map(({ name, body }) => [`/docs/${name}`, anchorsOf(body.markup)] as const),
])
/** What the service answers beside the pages, to which they may link. */
const others = ['/', '/v2/openapi.json', '/llms.txt', '/llms-full.txt', '/health/ready', '/metrics']

test.for(pages)('every link of $name leads to a page and a heading', ({ name, body }) => {
  const broken = [...body.markup.matchAll(/<a href="([^"]*)"/g)].flatMap(([, href = '']) => {
    if (/^(https:|mailto:)/.test(href)) return []
    const [path = '', anchor] = href.replace('http://127.0.0.1:8080', '').split('#')
    const target = anchors.get(path === '' ? `/docs/${name}` : path)
    if (target === undefined) return others.includes(path) && anchor === undefined ? [] : [href]
    return anchor === undefined || target.has(decodeURIComponent(anchor)) ? [] : [href]
  })
  expect(broken).toEqual([])
})

test.for(pages)('every file of the repository that $name links to is there', ({ source }) => {
  const links = [...source.matchAll(/\]\(([^()\s]+\.\w+)(?:#[^)]*)?\)/g)].map(([, href = '']) => href)
  const files = links.filter((href) => !/^(https?:|\/)/.test(href))
  const docs = new URL('../../../../docs/', import.meta.url)
  expect(files.filter((href) => !existsSync(new URL(href, docs)))).toEqual([])
})

test('every page is reached from the first page of the documents', () => {
  for (const { name } of pages) expect(reference).toContain(`href="/docs/${name}"`)
})

test('the page of errors says of every status what to do', () => {
  const source = pages.find(({ name }) => name === 'errors')?.source ?? ''
  const named = [...source.matchAll(/^\| (\d{3}(?:, \d{3})*) \|/gm)].flatMap(([, list = '']) =>
    list.split(', '),
  )
  const statuses = new Set(Object.values(errorTable).map(({ status }) => String(status)))
  expect(named.toSorted()).toEqual([...statuses].toSorted())
})

test('the README has what a newcomer needs first, and no more', () => {
  const bytes = statSync(new URL('../../../../README.md', import.meta.url)).size
  expect(bytes).toBeLessThan(6000)
})
