import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll } from 'vitest'
import { ZipFile } from 'yazl'
import { openRows } from '../../src/features/datasources/formats/open-rows.ts'
import type {
  EntryFault,
  RawRow,
  ReadOptions,
  SourceOptions,
} from '../../src/features/datasources/formats/source-options.ts'

/** A directory for the files of a test file, removed at its end. */
export function createFileDirectory(): {
  write(name: string, content: string | Uint8Array): Promise<string>
} {
  const directory = mkdtemp(join(tmpdir(), 'millrace-files-'))
  let count = 0
  afterAll(async () => rm(await directory, { recursive: true, force: true }))
  return {
    async write(name, content) {
      const path = join(await directory, `${++count}-${name}`)
      await writeFile(path, content)
      return path
    },
  }
}

/** A zip archive of files by their names. */
export function zipOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  compress = true,
): Promise<Buffer> {
  const archive = new ZipFile()
  for (const [name, content] of Object.entries(files)) {
    archive.addBuffer(Buffer.from(content as string), name, { compress, mtime: new Date(0) })
  }
  archive.end()
  return buffer(archive.outputStream as Readable)
}

/** A text in UTF-16 with the more significant byte first. */
export function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16()
}

export interface Read {
  readonly rows: readonly RawRow[]
  readonly faults: readonly EntryFault[]
}

/** All rows and faults of a file, or of bytes that come in pieces of `pieceBytes`. */
export async function readAll(
  source: string | Uint8Array,
  options: SourceOptions,
  { pieceBytes = 64 * 1024, ...read }: ReadOptions & { pieceBytes?: number } = {},
): Promise<Read> {
  const rows: RawRow[] = []
  const faults: EntryFault[] = []
  const file = typeof source === 'string' ? { path: source } : { stream: streamOf(source, pieceBytes) }
  let entry = 0
  for await (const batch of openRows(file, options, { ...read, onFault: (fault) => faults.push(fault) })) {
    if (batch.firstEntry <= entry) throw new Error(`batch of entry ${batch.firstEntry} after ${entry}`)
    entry = batch.firstEntry + batch.length - 1
    rows.push(...batch)
  }
  return { rows, faults }
}

export function streamOf(bytes: Uint8Array, pieceBytes: number): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += pieceBytes)
        yield Buffer.from(bytes.subarray(at, at + pieceBytes))
    })(),
    { objectMode: false },
  )
}

/** A cell of a workbook: a text, a number, a boolean, or a serial number that a style shows as a date. */
export type Cell = string | number | boolean | { readonly serial: number; readonly style: number } | undefined

const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** A workbook of sheets, with styles 1 (a day), 2 (a day and a time) and 3 (a time). */
export function workbookOf(
  sheets: Readonly<Record<string, readonly (readonly Cell[])[]>>,
  { startsIn1904 = false, inlineTexts = false } = {},
): Promise<Buffer> {
  const shared: string[] = []
  const cellXml = (cell: Cell, reference: string): string => {
    if (cell === undefined) return ''
    if (typeof cell === 'number') return `<c r="${reference}"><v>${cell}</v></c>`
    if (typeof cell === 'boolean') return `<c r="${reference}" t="b"><v>${Number(cell)}</v></c>`
    if (typeof cell === 'object') return `<c r="${reference}" s="${cell.style}"><v>${cell.serial}</v></c>`
    if (inlineTexts) return `<c r="${reference}" t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`
    if (!shared.includes(cell)) shared.push(cell)
    return `<c r="${reference}" t="s"><v>${shared.indexOf(cell)}</v></c>`
  }
  const column = (index: number): string =>
    (index < 26 ? '' : column(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26))
  const parts = Object.fromEntries(
    Object.values(sheets).map((rows, number) => [
      `xl/worksheets/sheet${number + 1}.xml`,
      `<worksheet xmlns="${main}"><sheetData>${rows
        .map(
          (cells, row) =>
            `<row r="${row + 1}">${cells.map((cell, index) => cellXml(cell, `${column(index)}${row + 1}`)).join('')}</row>`,
        )
        .join('')}</sheetData></worksheet>`,
    ]),
  )
  const names = Object.keys(sheets)
  return zipOf({
    '[Content_Types].xml': '<Types/>',
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relations}"><workbookPr date1904="${Number(startsIn1904)}"/><sheets>${names
      .map(
        (name, index) => `<sheet name="${escapeXml(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
      )
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${names
      .map(
        (_, i) =>
          `<Relationship Id="rId${i + 1}" Type="${relations}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`,
      )
      .join(
        '',
      )}<Relationship Id="s" Type="${relations}/styles" Target="styles.xml"/><Relationship Id="t" Type="${relations}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy&quot; Uhr &quot;hh:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${main}">${shared.map((text) => `<si><t>${escapeXml(text)}</t></si>`).join('')}</sst>`,
    ...parts,
  })
}
