import { posix } from 'node:path'
import type { SaxesParser } from 'saxes'
import { pathOf } from './content.ts'
import { columnNames } from './csv-reader.ts'
import { createDecoder } from './encoding.ts'
import { setOwn } from './own-properties.ts'
import { malformed, noEntries, tooLarge } from './source-fault.ts'
import type { RawRow, SourceFile, SourceLimits, SourceOptions } from './source-options.ts'
import { type RowSink, sizeText } from './text-reader.ts'
import { formatSerial, type SerialKind, serialKindOf } from './workbook-dates.ts'
import { createParser } from './xml-reader.ts'
import { openZip, type ZipArchive } from './zip-archive.ts'

/** Bytes of the lists of sheets and styles. */
const maxPartBytes = 16 * 1024 * 1024
const pieceLength = 64 * 1024

interface Workbook {
  readonly archive: ZipArchive
  readonly limits: SourceLimits
  readonly sheetPath: string
  readonly sharedPath: string | undefined
  readonly stylesPath: string | undefined
  readonly startsIn1904: boolean
}

/**
 * The rows of one sheet of an XLSX workbook by its header, the first row with values; a title above the header, one
 * value alone in its row, is left out. Dates become ISO 8601 texts by the format of their cells. The sheet is read as
 * a stream; the texts that cells share are held in memory.
 */
export async function* openWorkbook(
  file: SourceFile,
  { sheet }: Pick<SourceOptions, 'sheet'>,
  sink: RowSink,
  limits: SourceLimits,
): AsyncGenerator<void> {
  const archive = await openZip(pathOf(file), limits)
  try {
    const workbook = await readWorkbook(archive, limits, sheet)
    const texts =
      workbook.sharedPath === undefined ? [] : await readSharedTexts(workbook, workbook.sharedPath)
    const kinds = workbook.stylesPath === undefined ? [] : await readStyles(workbook, workbook.stylesPath)
    yield* readSheet(workbook, texts, kinds, sink)
  } finally {
    archive.close()
  }
}

/** Writes a part of the archive into a parser, piece by piece; nothing longer than an entry waits in the parser. */
async function* parsePart(
  { archive, limits }: Pick<Workbook, 'archive' | 'limits'>,
  path: string,
  parser: SaxesParser<{ xmlns: false }>,
  maxBytes: number,
): AsyncGenerator<void> {
  let since = 0
  // The one event that no part has a handler of its own for.
  parser.on('opentagstart', () => {
    since = parser.position
  })
  const decoder = createDecoder('utf-8')
  let bytes = 0
  for await (const chunk of archive.read(path)) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLarge(`${path} of the workbook exceeds ${sizeText(maxBytes)}`)
    const text = decoder.decode(chunk)
    for (let from = 0; from < text.length; from += pieceLength) {
      parser.write(text.slice(from, from + pieceLength))
      if (parser.position - since > limits.entryBytes) {
        throw tooLarge(`A cell of ${path} is larger than ${sizeText(limits.entryBytes)}`)
      }
    }
    yield
  }
  parser.write(decoder.end()).close()
}

async function parseWholePart(
  workbook: Pick<Workbook, 'archive' | 'limits'>,
  path: string,
  parser: SaxesParser<{ xmlns: false }>,
  maxBytes = maxPartBytes,
): Promise<void> {
  for await (const _ of parsePart(workbook, path, parser, maxBytes)) {
    // Events of the parser gather what is read.
  }
}

/** A name without its namespace: writers differ in their prefixes. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

async function readWorkbook(
  archive: ZipArchive,
  limits: SourceLimits,
  sheet: string | undefined,
): Promise<Workbook> {
  const names = new Set(archive.entries.map(({ name }) => name))
  if (!names.has('xl/workbook.xml')) {
    throw malformed('Not an XLSX workbook: the archive has no xl/workbook.xml')
  }
  const sheets: { name: string; id: string }[] = []
  let startsIn1904 = false
  const parser = createParser()
  parser.on('opentag', ({ name, attributes }) => {
    if (localName(name) === 'sheet') {
      const id = Object.entries(attributes).find(([key]) => key.includes(':') && localName(key) === 'id')?.[1]
      sheets.push({ name: attributes.name ?? '', id: id ?? '' })
    } else if (localName(name) === 'workbookPr') startsIn1904 = /^(1|true)$/.test(attributes.date1904 ?? '')
  })
  await parseWholePart({ archive, limits }, 'xl/workbook.xml', parser)
  const relations = new Map<string, string>()
  const relationParser = createParser()
  let sharedPath: string | undefined
  let stylesPath: string | undefined
  relationParser.on('opentag', ({ name, attributes: { Id = '', Type = '', Target = '' } }) => {
    if (localName(name) !== 'Relationship') return
    const path = posix.normalize(Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`)
    relations.set(Id, path)
    if (Type.endsWith('/sharedStrings') && names.has(path)) sharedPath = path
    if (Type.endsWith('/styles') && names.has(path)) stylesPath = path
  })
  await parseWholePart({ archive, limits }, 'xl/_rels/workbook.xml.rels', relationParser)
  const found = sheet === undefined ? sheets[0] : sheets.find(({ name }) => name === sheet)
  const sheetPath = found && relations.get(found.id)
  if (sheetPath === undefined || !names.has(sheetPath)) {
    const known = sheets.map(({ name }) => name).slice(0, 20)
    throw noEntries(
      sheet === undefined
        ? 'The workbook has no sheet'
        : `The workbook has no sheet ${sheet}, it has: ${known.join(', ')}`,
    )
  }
  return { archive, limits, sheetPath, sharedPath, stylesPath, startsIn1904 }
}

async function readSharedTexts(workbook: Workbook, path: string): Promise<string[]> {
  const { sharedTextBytes } = workbook.limits
  const texts: string[] = []
  let held = 0
  let text = ''
  let isText = false
  let phonetic = 0
  const parser = createParser()
  parser.on('opentag', ({ name }) => {
    const local = localName(name)
    if (local === 'si') text = ''
    else if (local === 'rPh') phonetic++
    else if (local === 't') isText = phonetic === 0
  })
  const add = (piece: string) => {
    if (isText) text += piece
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('closetag', ({ name }) => {
    const local = localName(name)
    if (local === 't') isText = false
    else if (local === 'rPh') phonetic--
    else if (local === 'si') {
      texts.push(unescapeText(text))
      // What an element of the list costs, beside its characters.
      held += text.length + 32
      if (held > sharedTextBytes) {
        throw tooLarge(
          `The texts of the workbook exceed ${sizeText(sharedTextBytes)}: save it as CSV, which has no such limit`,
        )
      }
    }
  })
  await parseWholePart(workbook, path, parser, sharedTextBytes * 4)
  return texts
}

/** Control characters are written as `_x000D_`. */
function unescapeText(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text
}

/** By the index of a style, what its cells show of a date. */
async function readStyles(workbook: Workbook, path: string): Promise<(SerialKind | undefined)[]> {
  const codes = new Map<number, string>()
  const kinds: (SerialKind | undefined)[] = []
  let isCellStyle = false
  const parser = createParser()
  parser.on('opentag', ({ name, attributes }) => {
    const local = localName(name)
    if (local === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '')
    else if (local === 'cellXfs') isCellStyle = true
    else if (local === 'xf' && isCellStyle) {
      const id = Number(attributes.numFmtId ?? 0)
      kinds.push(serialKindOf(id, codes.get(id)))
    }
  })
  parser.on('closetag', ({ name }) => {
    if (localName(name) === 'cellXfs') isCellStyle = false
  })
  await parseWholePart(workbook, path, parser)
  return kinds
}

/** Index of a column from the reference of a cell: `C7` is 2. */
function columnOf(reference: string): number {
  let column = 0
  for (let i = 0; i < reference.length; i++) {
    const code = reference.charCodeAt(i)
    if (code < 65 || code > 90) break
    column = column * 26 + (code - 64)
  }
  return column - 1
}

async function* readSheet(
  workbook: Workbook,
  texts: readonly string[],
  kinds: readonly (SerialKind | undefined)[],
  sink: RowSink,
): AsyncGenerator<void> {
  const { limits, startsIn1904 } = workbook
  const rows = createSheetRows(sink)
  let cells = new Map<number, unknown>()
  let column = -1
  let cell: { type: string; style: number } | undefined
  let value = ''
  let isValue = false
  let line = 0
  const parser = createParser()

  parser.on('opentag', ({ name, attributes }) => {
    const local = localName(name)
    if (local === 'row') {
      cells = new Map()
      column = -1
      line = Number(attributes.r ?? line + 1)
    } else if (local === 'c') {
      column = attributes.r === undefined ? column + 1 : columnOf(attributes.r)
      if (column >= limits.entryFields || column < 0) {
        throw tooLarge(
          `Row ${line} of the sheet has a value in column ${column + 1}: at most ${limits.entryFields} columns are read`,
          { line },
        )
      }
      cell = { type: attributes.t ?? 'n', style: Number(attributes.s ?? -1) }
      value = ''
    } else if (local === 'v' || local === 't') isValue = cell !== undefined
  })
  const add = (piece: string) => {
    if (isValue) value += piece
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('closetag', ({ name }) => {
    const local = localName(name)
    if (local === 'v' || local === 't') isValue = false
    else if (local === 'c' && cell) {
      const read = cellValue(cell.type, value, kinds[cell.style], texts, startsIn1904)
      if (read !== undefined) cells.set(column, read)
      cell = undefined
    } else if (local === 'row') rows.add(cells)
  })
  for await (const _ of parsePart(workbook, workbook.sheetPath, parser, limits.contentBytes)) yield
  rows.end()
  yield
}

function cellValue(
  type: string,
  text: string,
  kind: SerialKind | undefined,
  texts: readonly string[],
  startsIn1904: boolean,
): unknown {
  if (type === 's') return texts[Number(text)] || undefined
  // Errors of formulas, such as #N/A, are no values.
  if (text === '' || type === 'e') return undefined
  if (type === 'b') return text === '1' || text === 'true'
  if (type !== 'n') return unescapeText(text)
  const number = Number(text)
  if (!Number.isFinite(number)) return text
  return kind === undefined ? number : formatSerial(number, kind, startsIn1904)
}

/** Finds the header and gives the rows behind it. */
function createSheetRows(sink: RowSink) {
  let header: Map<number, unknown> | undefined
  let names: readonly (readonly [column: number, name: string])[] | undefined
  let entry = 0

  function nameColumns(cells: ReadonlyMap<number, unknown>): void {
    const columns = [...cells.keys()].sort((a, b) => a - b)
    const unique = columnNames(columns.map((column) => String(cells.get(column))))
    names = columns.map((column, index) => [column, unique[index] as string] as const)
  }

  function give(cells: ReadonlyMap<number, unknown>): void {
    entry++
    const row: RawRow = {}
    for (const [column, name] of names ?? []) {
      const value = cells.get(column)
      if (value !== undefined) setOwn(row, name, value)
    }
    sink.row(entry, row)
  }

  return {
    add(cells: Map<number, unknown>): void {
      if (cells.size === 0) return
      if (names !== undefined) give(cells)
      else if (header === undefined) header = cells
      else {
        const isTitle = header.size === 1 && cells.size > 1
        nameColumns(isTitle ? cells : header)
        if (!isTitle) give(cells)
      }
    },
    end(): void {
      if (header === undefined) throw noEntries('The sheet is empty')
    },
  }
}
