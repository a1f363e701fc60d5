import { constants, gunzipSync, inflateRawSync } from 'node:zlib'
import { detectDelimiter } from './csv-delimiter.ts'
import { createDecoder, detectEncoding, encodingOf } from './encoding.ts'
import { createJsonReader } from './json-reader.ts'
import { malformed, noEntries, unsupported } from './source-fault.ts'
import { type SourceEncoding, type SourceFormat, type SourceOptions, sourceLimits } from './source-options.ts'
import { detectXmlRoot } from './xml-reader.ts'

/** Compressed bytes that are looked at; they become 1,032 times as many at most. */
const compressedHead = 16 * 1024
const textHead = 256 * 1024

const formatOfExtension: Readonly<Record<string, SourceFormat>> = {
  csv: 'csv',
  tsv: 'csv',
  txt: 'csv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  xml: 'xml',
  xlsx: 'xlsx',
  parquet: 'parquet',
}

/** What files of other kinds begin with, and what to do with them. */
const foreign: readonly (readonly [start: string, advice: string])[] = [
  ['\xd0\xcf\x11\xe0', 'an Excel or Word file of the old kind (.xls): save it as .xlsx or CSV'],
  ['%PDF', 'a PDF document'],
  ['\x89PNG', 'a picture'],
  ['\xff\xd8\xff', 'a picture'],
  ['GIF8', 'a picture'],
  ['7z\xbc\xaf', 'a 7-Zip archive: use gzip or zip'],
  ['Rar!', 'a RAR archive: use gzip or zip'],
  ['BZh', 'compressed with bzip2: use gzip or zip'],
  ['\x28\xb5\x2f\xfd', 'compressed with Zstandard: use gzip or zip'],
  ['\xfd7zXZ', 'compressed with xz: use gzip or zip'],
  ['Obj\x01', 'an Avro file: use Parquet or NDJSON'],
  ['SQLite format 3', 'a SQLite database: export a table as CSV'],
]

/**
 * How content is read, by its first bytes, then by its name and its media type.
 * @param head the first bytes, 64 KB or more where there are as many
 * @throws SourceFault for content of no format that is read, naming what it looks like
 */
export function detectSource(head: Buffer, fileName?: string, contentType?: string): SourceOptions {
  if (head.length === 0) throw noEntries('The file is empty')
  if (head[0] === 0x1f && head[1] === 0x8b) {
    const inner = inflateHead(head, (bytes) => gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }))
    const options = detectPlain(inner, fileName?.replace(/\.gz$/i, ''), undefined, false)
    if (options.format === 'xlsx' || options.format === 'parquet') {
      throw unsupported(`${options.format} within gzip: send it without, it is compressed already`)
    }
    return { ...options, compression: 'gzip' }
  }
  if (head.subarray(0, 4).toString('latin1') === 'PK\x03\x04') return detectZip(head)
  return detectPlain(head, fileName, contentType, head.length < textHead)
}

function inflateHead(head: Buffer, inflate: (bytes: Buffer) => Buffer): Buffer {
  try {
    return inflate(head.subarray(0, compressedHead))
  } catch (error) {
    throw malformed(`The compressed content cannot be read: ${(error as Error).message}`, {}, error)
  }
}

/** A workbook by the names of its parts, else the first file of the archive. */
function detectZip(head: Buffer): SourceOptions {
  const nameLength = head.readUInt16LE(26)
  const extraLength = head.readUInt16LE(28)
  const name = head.subarray(30, 30 + nameLength).toString('utf8')
  if (/^(\[Content_Types\]\.xml$|_rels\/|xl\/|docProps\/)/.test(name) || head.includes('xl/workbook.xml')) {
    return { format: 'xlsx' }
  }
  const isEncrypted = (head.readUInt16LE(6) & 1) === 1
  if (isEncrypted) throw unsupported('The archive is encrypted: send it without a password')
  const content = head.subarray(30 + nameLength + extraLength)
  const method = head.readUInt16LE(8)
  if (content.length === 0 || name.endsWith('/') || (method !== 0 && method !== 8)) {
    return { format: formatByName(name) ?? 'csv', compression: 'zip' }
  }
  const inner =
    method === 8
      ? inflateHead(content, (bytes) => inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }))
      : content
  return { ...detectPlain(inner, name, undefined, false), compression: 'zip' }
}

function formatByName(fileName: string | undefined): SourceFormat | undefined {
  return formatOfExtension[/\.([a-z0-9]{1,8})$/i.exec(fileName ?? '')?.[1]?.toLowerCase() ?? '']
}

function formatByType(contentType: string | undefined): SourceFormat | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (/^application\/(x-)?(ndjson|jsonl|jsonlines)$/.test(type)) return 'ndjson'
  if (/^(application|text)\/([\w.-]+\+)?json$/.test(type)) return 'json'
  if (/^(application|text)\/([\w.-]+\+)?xml$/.test(type)) return 'xml'
  if (/^text\/(csv|tab-separated-values)$/.test(type)) return 'csv'
  return undefined
}

function charsetOf(contentType: string | undefined): SourceEncoding | undefined {
  const label = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? '')?.[1]
  return label === undefined ? undefined : encodingOf(label)
}

/** @param isWhole whether these are all bytes */
function detectPlain(
  head: Buffer,
  fileName: string | undefined,
  contentType: string | undefined,
  isWhole: boolean,
): SourceOptions {
  const start = head.subarray(0, 16).toString('latin1')
  if (start.startsWith('PAR1')) return { format: 'parquet' }
  const other = foreign.find(([prefix]) => start.startsWith(prefix))
  if (other) throw unsupported(`The content is ${other[1]}`)
  const bytes = head.subarray(0, textHead)
  const encoding = detectEncoding(bytes) ?? charsetOf(contentType)
  const decoder = createDecoder(encoding)
  const text = decoder.decode(bytes) + (isWhole ? decoder.end() : '')
  if (text.includes('\0')) {
    throw unsupported('The content is no text: send CSV, JSON, NDJSON, XML, XLSX or Parquet')
  }
  const format = textFormat(text, formatByName(fileName) ?? formatByType(contentType))
  return {
    format,
    ...(encoding !== undefined && { encoding }),
    ...(format === 'csv' && { csvDelimiter: detectDelimiter(text, isWhole) }),
    ...rootPathOf(format, text),
  }
}

function textFormat(text: string, hint: SourceFormat | undefined): SourceFormat {
  const start = text.trimStart()
  if (/^<(!doctype html|html)[\s>]/i.test(start)) {
    throw unsupported('The content is a web page: is the address right, and open without signing in?')
  }
  if (start.startsWith('<')) return 'xml'
  if (start.startsWith('[')) return hint === 'csv' ? 'csv' : 'json'
  if (!start.startsWith('{')) return hint === 'json' || hint === 'ndjson' || hint === 'xml' ? hint : 'csv'
  const [first = '', ...rest] = start.split('\n')
  if (!isJson(first)) return hint === 'ndjson' && rest.length === 0 ? 'ndjson' : 'json'
  const next = rest.find((line) => line.trim() !== '')
  return next === undefined ? (hint === 'ndjson' ? 'ndjson' : 'json') : 'ndjson'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function rootPathOf(format: SourceFormat, text: string): { rootPath?: string } {
  if (format === 'xml') {
    const rootPath = detectXmlRoot(text)
    return rootPath === undefined ? {} : { rootPath }
  }
  if (format !== 'json') return {}
  let found: string | undefined
  const reader = createJsonReader({
    limits: { ...sourceLimits, entryBytes: textHead * 2 },
    sink: { row() {}, fault() {} },
    onRoot: (rootPath) => {
      found = rootPath
    },
  })
  reader.write(text)
  return found === undefined ? {} : { rootPath: found }
}
