import { placeholderPattern } from '@millrace/contract/resources/workflow-definition.ts'
import { HtmlScanner, type PlaceInHtml, type RefusedValue } from './html-scanner.ts'

export interface InspectedHtml {
  /** Of the placeholders in their order. */
  readonly places: readonly PlaceInHtml[]
  readonly refused: readonly RefusedValue[]
}

/** Documents within attributes, and what looks like markup within raw elements, are read no deeper than this. */
const maxDepth = 3

/** Finds where placeholders stand in a document, and the addresses that it must not hold. */
export function inspectHtml(html: string, depth = 0): InspectedHtml {
  const scanner = new HtmlScanner(html, (nested) =>
    depth < maxDepth ? inspectHtml(nested, depth + 1).refused : [],
  )
  const places: PlaceInHtml[] = []
  let from = 0
  for (const { 0: whole, index } of html.matchAll(new RegExp(placeholderPattern, 'g'))) {
    scanner.read(html.slice(from, index))
    places.push(scanner.put(whole.length))
    from = index + whole.length
  }
  scanner.read(html.slice(from))
  scanner.end()
  return { places, refused: scanner.refused }
}

/** The document without the values that it must not hold. */
export function withoutRefused(html: string, refused: readonly RefusedValue[]): string {
  let kept = ''
  let from = 0
  for (const { start, end, isQuoted } of refused.toSorted((a, b) => a.start - b.start)) {
    if (start < from) continue
    // Without quotes the next attribute would become the value.
    kept += html.slice(from, start) + (isQuoted ? '' : '""')
    from = end
  }
  return kept + html.slice(from)
}
