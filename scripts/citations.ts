import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Page {
  /** Longest first, so that a citation meets the most exact one. */
  readonly headings: readonly { readonly text: string; readonly items: number }[]
  /** Ids of rows of its tables, as `T01`. */
  readonly ids: ReadonlySet<string>
}

const citation = /([\w./-]+\.md)(?:, ([^\n]*))?/g
const idsAtStart = /^[A-Z]\d\d(?:(?:, | and | to )[A-Z]\d\d)*/

/**
 * Citations of Markdown pages that lead nowhere: the page is not in the repository, or has neither a heading nor
 * a row of a table with what stands behind the comma. A number behind a heading is an item of the list below it.
 * @returns one line for each, with its file
 */
export function brokenCitations(root: string, folders: readonly string[]): string[] {
  const pages = new Map<string, Page>()
  const pageAt = (path: string): Page => {
    const page = pages.get(path) ?? readPage(readFileSync(join(root, path), 'utf8'))
    pages.set(path, page)
    return page
  }
  const broken: string[] = []
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...folders], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const file of files.split('\n').filter((name) => /\.(ts|js|mjs|sql|sh)$/.test(name))) {
    if (!existsSync(join(root, file))) continue
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/,\n\s*(?:\*|\/\/|--) /g, ', ')
    for (const [whole, path = '', place] of text.matchAll(citation)) {
      const found = [path, join(dirname(file), path)].find((name) => existsSync(join(root, name)))
      if (!found) broken.push(`${file}: "${whole}": no such page in the repository`)
      else if (place !== undefined && !leadsSomewhere(pageAt(found), place))
        broken.push(`${file}: "${whole.slice(0, 100)}": the page has no such heading, item or id`)
    }
  }
  return broken
}

const homes = ['', 'packages/server/', 'packages/server/src/', 'packages/contract/src/']

/** Files that a page names in backquotes with their folder, as `platform/spool.ts`, and that are not there. */
export function missingFiles(root: string, pages: readonly string[]): string[] {
  return pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/`([\w-]+\/[\w./-]+\.(?:ts|json|sql))`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !homes.some((home) => existsSync(join(root, home, path))))
      .map((path) => `${page}: \`${path}\`: no such file`),
  )
}

function readPage(text: string): Page {
  const headings: { text: string; items: number }[] = []
  const ids = new Set<string>()
  for (const line of text.split('\n')) {
    const heading = /^#+ (.+)$/.exec(line)?.[1]
    if (heading) headings.push({ text: heading, items: 0 })
    const item = /^(\d+)\. /.exec(line)?.[1]
    const last = headings.at(-1)
    if (item && last) last.items = Number(item)
    const row = /^\| ([^|]+) \|/.exec(line)?.[1]
    if (row && idsAtStart.test(row)) for (const id of expand(row)) ids.add(id)
  }
  return { headings: headings.sort((a, b) => b.text.length - a.text.length), ids }
}

function leadsSomewhere({ headings, ids }: Page, place: string): boolean {
  const named = idsAtStart.exec(place)?.[0]
  if (named) return expand(named).every((id) => ids.has(id))
  const heading = headings.find(({ text }) => place.startsWith(text) && !/^\w/.test(place.slice(text.length)))
  if (!heading) return false
  const items = /^ (\d+)(?: and (\d+))?/.exec(place.slice(heading.text.length))
  return !items || Math.max(Number(items[1]), Number(items[2] ?? 0)) <= heading.items
}

/** `A05 to A08 and A14` as its five ids. */
function expand(text: string): string[] {
  return [...text.matchAll(/([A-Z])(\d\d)(?: to [A-Z](\d\d))?/g)].flatMap(([, letter, first, last]) => {
    const from = Number(first)
    const count = Number(last ?? first) - from + 1
    return Array.from({ length: count }, (_, at) => `${letter}${String(from + at).padStart(2, '0')}`)
  })
}
