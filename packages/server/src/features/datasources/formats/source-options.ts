import type { Readable } from 'node:stream'

/** Formats that rows are read from (docs/datasources.md, Formats). */
export const sourceFormats = ['csv', 'json', 'ndjson', 'xml', 'xlsx', 'parquet'] as const
export type SourceFormat = (typeof sourceFormats)[number]

/** Characters that can separate the values of a CSV line. */
export const csvDelimiters = [',', ';', '\t', '|'] as const

/**
 * Encodings by their labels in the Encoding Standard. ISO-8859-1 is read as windows-1252, which differs in control
 * characters only.
 */
export const sourceEncodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'iso-8859-2',
  'iso-8859-15',
  'koi8-r',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
] as const
export type SourceEncoding = (typeof sourceEncodings)[number]

/** How the content of a source is read; `detectSource` proposes it. */
export interface SourceOptions {
  readonly format: SourceFormat
  readonly compression?: 'gzip' | 'zip'
  /** Absent: UTF-8, and windows-1252 from the first byte on that is not UTF-8 in a file that was ASCII until then. */
  readonly encoding?: SourceEncoding
  /** One of `csvDelimiters`; absent: detected from the first lines. */
  readonly csvDelimiter?: string
  /** Names of the columns of a file without header: every line, the first included, is data. */
  readonly csvColumns?: readonly string[]
  /**
   * JSON: `products.*`, the entries of the list `products`; `*`, those of a list at the root. XML: `feed.item.*` or
   * `feed.item`, each element `item` in `feed`. Absent: detected. A dot within a name is written `\.`.
   */
  readonly rootPath?: string
  /** Name of the sheet of a workbook; absent: the first one. */
  readonly sheet?: string
  /** Path of the file within a zip archive; absent: the only one, else the largest of a known format. */
  readonly entry?: string
}

/**
 * Where the content is. Zip, XLSX and Parquet are read by position and need a path; a stream of them is refused with
 * a `SourceFault`.
 */
export type SourceFile = { readonly path: string } | { readonly stream: Readable }

/**
 * One entry as its format gives it, of JSON values only: CSV gives texts, dates of workbooks and Parquet are ISO 8601
 * texts, integers beyond 2^53 are texts. Keys come from outside (`__proto__` among them): read them with
 * `Object.hasOwn`.
 */
export type RawRow = Record<string, unknown>

/** Consecutive entries; `firstEntry` is the number of the first one in its source, from 1. */
export type RowBatch = RawRow[] & { readonly firstEntry: number }

/** An entry that was left out because it cannot be read. Reading goes on behind it. */
export interface EntryFault {
  readonly rule: 'invalid_line'
  /** Number of the entry in its source, from 1; a CSV header is none. */
  readonly entry: number
  /** Line on which the entry begins, from 1, in formats of lines. */
  readonly line?: number
  readonly message: string
}

export interface ReadOptions {
  /** Called for each entry that is left out, before the entries behind it are given. */
  readonly onFault?: (fault: EntryFault) => void
  readonly signal?: AbortSignal
  readonly limits?: Partial<SourceLimits>
  /** Bytes of a text that are read, after decompression; `onCut` is called where there are more. */
  readonly maxBytes?: number
  readonly onCut?: () => void
}

/** Bounds of what is read (docs/faults.md, D06 and D07). */
export interface SourceLimits {
  /** Bytes of one entry: a line, an element, an object of a list. */
  readonly entryBytes: number
  /** Values of one entry, at its top level. */
  readonly entryFields: number
  /** Levels of lists and objects in an entry. */
  readonly depth: number
  /** Bytes after decompression. */
  readonly contentBytes: number
  /** Times that decompressed content may be larger than compressed content, beyond `ratioFreeBytes`. */
  readonly inflationRatio: number
  readonly ratioFreeBytes: number
  /** Bytes of the texts that a workbook shares between its cells. */
  readonly sharedTextBytes: number
}

export const sourceLimits: SourceLimits = {
  entryBytes: 1024 * 1024,
  entryFields: 2000,
  depth: 20,
  contentBytes: 20 * 1024 ** 3,
  inflationRatio: 100,
  ratioFreeBytes: 10 * 1024 * 1024,
  sharedTextBytes: 64 * 1024 * 1024,
}
