import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { limitProblem } from './json-values.ts'
import { getOwn, setOwn } from './own-properties.ts'
import { escapeName, leadsTo, parsePath } from './path.ts'
import { malformed, noEntries, SourceFault, tooLarge } from './source-fault.ts'
import type { RawRow } from './source-options.ts'
import { type ReaderOptions, sizeText, type TextReader } from './text-reader.ts'

/** Levels around the entries. */
const maxLevels = 100

/** An element within an entry. */
interface Element {
  readonly name: string
  readonly content: RawRow
  text: string
}

/**
 * The elements at a path as rows. An attribute `id` becomes `@id`, an element that is there several times a list, the
 * text of an element with attributes or elements `#text`. Document type declarations are refused, so no entity is
 * ever resolved but the five of XML; other references stay as they are written.
 */
export function createXmlReader({
  sink,
  limits,
  rootPath,
}: ReaderOptions & { rootPath: string }): TextReader {
  const root = parsePath(rootPath)
  const around: string[] = []
  let within: Element[] = []
  let entry = 0
  let entryLine = 0
  /** Where the last event or the entry that is read begins: nothing longer than an entry is ever held. */
  let since = 0
  const parser = createParser(() => entry)

  parser.on('opentag', (tag) => {
    if (within.length > 0) {
      within.push({ name: tag.name, content: attributesOf(tag), text: '' })
      return
    }
    around.push(tag.name)
    since = parser.position
    if (around.length > maxLevels) {
      throw malformed(`More than ${maxLevels} levels of elements in line ${parser.line}`)
    }
    if (around.length === root.length && root.every((step, index) => leadsTo(step, around[index]))) {
      entryLine = parser.line
      within = [{ name: tag.name, content: attributesOf(tag), text: '' }]
    }
  })
  const addText = (text: string) => {
    const element = within.at(-1)
    if (element) element.text += text
    else since = parser.position
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const element = within.pop()
    const parent = within.at(-1)
    if (element && parent) {
      addElement(parent.content, element.name, contentOf(element))
      return
    }
    around.pop()
    since = parser.position
    if (element) finishEntry(element)
  })

  function finishEntry(element: Element): void {
    entry++
    const value = contentOf(element)
    const row = typeof value === 'string' ? (value === '' ? {} : { '#text': value }) : value
    const problem = limitProblem(row, limits)
    if (problem === undefined) sink.row(entry, row)
    else {
      const message = `The element of line ${entryLine} ${problem}`
      sink.fault({ rule: 'invalid_line', entry, line: entryLine, message })
    }
  }

  function write(piece: string): void {
    // The parser holds a text until it ends; by small pieces, one without end is noticed.
    for (let from = 0; from < piece.length; from += 65_536) {
      parser.write(piece.slice(from, from + 65_536))
      if (parser.position - since > limits.entryBytes) {
        throw tooLarge(
          `The element of line ${within.length > 0 ? entryLine : parser.line} is larger than ${sizeText(limits.entryBytes)}: does the root path lead to the elements that are entries?`,
          { entry: entry + 1, line: parser.line },
        )
      }
    }
  }

  return {
    write,
    end(isCut) {
      if (isCut) return
      parser.close()
      if (entry === 0) {
        throw noEntries(`There are no elements at the root path ${rootPath}`)
      }
    },
  }
}

/** A parser that throws what is wrong, and refuses document types. */
export function createParser(entries: () => number = () => 0): SaxesParser<{ xmlns: false }> {
  const parser = new SaxesParser({ xmlns: false, position: true })
  parser.on('doctype', () => {
    throw new SourceFault(
      'doctype',
      `The document type declaration in line ${parser.line} is refused: entities of a file are never resolved, remove <!DOCTYPE …>`,
      { line: parser.line },
    )
  })
  parser.on('error', (error) => {
    const message = error.message.replace(/^\d+:\d+: /, '')
    // An entity of HTML in a feed stays as it is written.
    if (message.startsWith('undefined entity')) return
    throw malformed(`Not XML in line ${parser.line}, column ${parser.column}: ${message}`, {
      line: parser.line,
      entry: entries(),
    })
  })
  return parser
}

function attributesOf(tag: SaxesTagPlain): RawRow {
  const content: RawRow = {}
  for (const [name, value] of Object.entries(tag.attributes)) {
    if (!/^xmlns(:|$)/.test(name)) setOwn(content, `@${name}`, value)
  }
  return content
}

function addElement(parent: RawRow, name: string, value: unknown): void {
  const existing = getOwn(parent, name)
  if (existing === undefined) setOwn(parent, name, value)
  else if (Array.isArray(existing)) existing.push(value)
  else setOwn(parent, name, [existing, value])
}

function contentOf({ content, text }: Element): string | RawRow {
  const trimmed = text.trim()
  if (Object.keys(content).length === 0) return trimmed
  if (trimmed !== '') setOwn(content, '#text', trimmed)
  return content
}

interface ElementCount {
  readonly path: readonly string[]
  readonly parent: ElementCount | undefined
  count: number
  hasContent: boolean
}

/**
 * The path of the elements that look like entries: of those with elements or attributes, the ones of which a parent
 * has most. `undefined` where no element repeats or has any.
 */
export function detectXmlRoot(head: string): string | undefined {
  const counts = new Map<string, ElementCount>()
  const open: ElementCount[] = []
  const parser = createParser()
  parser.on('opentag', (tag) => {
    const parent = open.at(-1)
    const path = [...(parent?.path ?? []), tag.name]
    const key = path.map(escapeName).join('.')
    const known = counts.get(key)
    const element = known ?? { path, parent, count: 0, hasContent: false }
    if (known === undefined && counts.size < 10_000) counts.set(key, element)
    element.count++
    if (Object.keys(tag.attributes).some((name) => !/^xmlns(:|$)/.test(name))) element.hasContent = true
    if (parent) parent.hasContent = true
    open.push(element)
    if (open.length > maxLevels) throw malformed(`More than ${maxLevels} levels of elements`)
  })
  parser.on('closetag', () => open.pop())
  try {
    parser.write(head)
  } catch (error) {
    if (counts.size === 0 || (error as SourceFault).rule === 'doctype') throw error
  }
  let best: { key: string; weight: number } | undefined
  for (const [key, { path, parent, count, hasContent }] of counts) {
    if (path.length < 2 || parent === undefined) continue
    const perParent = count / parent.count
    // Entries have content, unless there is nothing else: a list of addresses.
    const weight = (perParent > 1 ? perParent : 0.5 / path.length) * (hasContent ? 1_000_000 : 1)
    if (best === undefined || weight > best.weight) best = { key, weight }
  }
  return best?.key
}
