import { readdirSync, readFileSync } from 'node:fs'
import { packageFile } from '../../files/package-files.ts'
import { type Addresses, publicUrlOf } from './curl.ts'
import { type MarkdownPage, picturePath, renderMarkdownPage } from './markdown-page.ts'
import { type ListedPage, type PageGroup, pageGroups } from './page-list.ts'

const directory = packageFile('../../docs/')

export interface LibraryPage extends ListedPage, MarkdownPage {
  readonly title: string
  /** Markdown, with the addresses of this service. */
  readonly source: string
}

export interface LibraryGroup extends PageGroup {
  readonly pages: readonly LibraryPage[]
}

/** The names of pages that docs/ has, without `.md`. */
export function storedPages(): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
}

/** A picture that the pages show; undefined where there is none of this name. */
export function readPicture(name: string): Buffer | undefined {
  if (!/^[\w-]+\.webp$/.test(name)) return undefined
  try {
    return readFileSync(new URL(`pictures/${name}`, directory))
  } catch {
    return undefined
  }
}

/** Pages link to each other by their files, as the repository shows them; here they have addresses below /docs. */
function targetAmong(names: ReadonlySet<string>): (href: string) => string | undefined {
  return (href) => {
    if (/^(?:https?:\/\/|mailto:|#|\/(?!\/))/.test(href)) return href
    const [, picture] = /^pictures\/([\w-]+\.webp)$/.exec(href) ?? []
    if (picture !== undefined) return picturePath + picture
    const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
    return names.has(name) ? `/docs/${name}${anchor}` : undefined
  }
}

/** The address of a service in the pages is that of a local one; a reader gets commands that reach this one. */
function withAddresses(source: string, addresses: Addresses): string {
  return source
    .replaceAll(/http:\/\/127\.0\.0\.1:8080(?=\/collect\b)/g, () => addresses.collectorUrl)
    .replaceAll('http://127.0.0.1:8080', () => publicUrlOf(addresses))
}

/** Reads all pages of docs/, in the order of the list. */
export function readPages(addresses: Addresses): LibraryGroup[] {
  const stored = new Set(storedPages())
  const target = targetAmong(stored)
  const read = (listed: ListedPage): LibraryPage => {
    const source = withAddresses(readFileSync(new URL(`${listed.name}.md`, directory), 'utf8'), addresses)
    const page = renderMarkdownPage(source, target)
    const title = page.headings.find(({ level }) => level === 1)?.text ?? listed.name
    return { ...listed, ...page, title, source }
  }
  return pageGroups.flatMap(({ title, pages }) => {
    const present = pages.filter(({ name }) => stored.has(name))
    return present.length === 0 ? [] : [{ title, pages: present.map(read) }]
  })
}
