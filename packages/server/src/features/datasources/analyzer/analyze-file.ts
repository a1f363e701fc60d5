import { open } from 'node:fs/promises'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import { entryToRead } from '../formats/content.ts'
import { detectSource } from '../formats/detect-source.ts'
import type { EntryFault, SourceOptions } from '../formats/source-options.ts'
import { sourceLimits } from '../formats/source-options.ts'
import { openZip } from '../formats/zip-archive.ts'
import { analyzeRows } from './analyze-rows.ts'
import { sampleRows } from './sample-rows.ts'

export interface Analysis {
  readonly fields: readonly DatasourceField[]
  /** How the content was read: what was given, and what was detected. */
  readonly options: SourceOptions
  readonly faults: readonly EntryFault[]
  /** Rows that were looked at, and whether they are all. */
  readonly rows: number
  readonly isWhole: boolean
}

export interface AnalyzedFile {
  readonly path: string
  /** Name that the file was sent under, for its extension. */
  readonly fileName?: string
  readonly contentType?: string
  /** Index of the source that the file is. */
  readonly source?: number
  /** What is known of how to read it; the rest is detected. */
  readonly options?: Partial<SourceOptions>
}

const headBytes = 256 * 1024

/**
 * Detects how a file is read, and proposes its fields.
 * @throws SourceFault where it cannot be read
 */
export async function analyzeFile(file: AnalyzedFile, signal?: AbortSignal): Promise<Analysis> {
  const options = await detectFile(file)
  const sample = await sampleRows({ path: file.path }, options, signal)
  const fields = analyzeRows(sample.rows, {
    source: file.source ?? 0,
    ...(options.csvDelimiter !== undefined && { csvDelimiter: options.csvDelimiter }),
  })
  return { fields, options, faults: sample.faults, rows: sample.rows.length, isWhole: sample.isWhole }
}

/**
 * How a file is read: by its first bytes, of an archive those of the file in it that will be read.
 * @throws SourceFault for content of no format that is read
 */
export async function detectFile({
  path,
  fileName,
  contentType,
  options = {},
}: AnalyzedFile): Promise<SourceOptions> {
  const handle = await open(path)
  let head: Buffer
  try {
    const buffer = Buffer.alloc(headBytes)
    const { bytesRead } = await handle.read(buffer, 0, headBytes, 0)
    head = buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
  const detected = detectSource(head, fileName, contentType)
  const found = detected.compression === 'zip' ? await detectEntry(path, options.entry) : detected
  // What was detected of another format than the one that is given says nothing.
  if (options.format !== undefined && options.format !== found.format) {
    const { compression, encoding, entry } = found
    return {
      ...(compression !== undefined && { compression }),
      ...(encoding !== undefined && { encoding }),
      ...(entry !== undefined && { entry }),
      ...options,
      format: options.format,
    }
  }
  return { ...found, ...options }
}

async function detectEntry(path: string, given: string | undefined): Promise<SourceOptions> {
  const archive = await openZip(path, sourceLimits)
  try {
    if (archive.entries.some(({ name }) => name === 'xl/workbook.xml')) return { format: 'xlsx' }
    const entry = given ?? entryToRead(archive).name
    let head: Buffer = Buffer.alloc(0)
    for await (const chunk of archive.read(entry)) {
      head = Buffer.concat([head, chunk])
      if (head.length >= headBytes) break
    }
    return { ...detectSource(head, entry), compression: 'zip', entry }
  } finally {
    archive.close()
  }
}
