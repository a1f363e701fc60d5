import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'
import { valueAt } from './data-layer.ts'

/** As the tracker knows it; empty for what is not known. */
export interface Visitor {
  readonly clientId: string
  readonly tmpId: string
}

export interface PageContext {
  readonly page: URL
  readonly visitor: Visitor
  /** Of the data layer. */
  readonly entries: readonly unknown[]
}

/** A server refuses longer ones. */
const maxLength = 7_000

/** An address of an integration with what the page adds to it; parameters that it has itself stay. */
export function completeAddress(
  address: string,
  { includeContext, includeDatalayerPath }: PageIntegration,
  { page, visitor, entries }: PageContext,
): string {
  const url = new URL(address)
  const own = url.searchParams
  function set(name: string, value: string | undefined): void {
    const { search } = url
    if (value) own.set(name, value)
    if (url.href.length > maxLength) url.search = search
  }
  const add = (name: string, value: string | undefined): void => {
    if (!own.has(name)) set(name, value)
  }
  // For mails it may be the placeholder of a sending tool, not replaced in a page.
  set('trk-u', visitor.clientId)
  add('trk-t', visitor.tmpId)
  add('trk-referer', page.href)
  add('trk-referer', page.origin + page.pathname)
  if (includeContext) {
    for (const [name, value] of new URLSearchParams(page.search)) if (name !== 'mode') add(name, value)
  }
  for (const path of includeDatalayerPath ?? []) {
    add(path.slice(path.lastIndexOf('.') + 1), valueAt(entries, path))
  }
  return url.href
}
