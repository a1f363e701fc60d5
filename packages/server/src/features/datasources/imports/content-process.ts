import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { maskSample } from '@millrace/contract/events/samples.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import { definedOf } from '../../../platform/changes.ts'
import { type AnalyzedFile, analyzeFile, detectFile } from '../analyzer/analyze-file.ts'
import { rowMapper } from '../analyzer/row-mapper.ts'
import { RuleFault } from '../analyzer/rules.ts'
import { encodingOf } from '../formats/encoding.ts'
import { openRows } from '../formats/open-rows.ts'
import { SourceFault } from '../formats/source-fault.ts'
import type { RawRow, ReadOptions, SourceOptions } from '../formats/source-options.ts'
import { createLineWriter, keyOf } from './copy-lines.ts'
import { ImportRefused } from './import-faults.ts'
import type { ContentFile, LoggedFault, ProcessJob, ProcessMessage, ReadCounts } from './process-messages.ts'

// The program of one process of `createContentProcesses`.

const lineBytes = 1024 * 1024
/** Messages whose lines the service has not taken yet. */
const maxWaiting = 2
const maxRows = 20_000_000
const maxRowBytes = 1024 * 1024
const maxKeyLength = 512
/** Kinds of faults that are logged of one import. */
const maxFaults = 200
/** Formats that are read by position. */
const byPosition = new Set(['xlsx', 'parquet'])

/** Resolves once the message is handed over. */
const say = (message: ProcessMessage): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, undefined, {}, (error) => (error ? reject(error) : resolve()))
  })

/** The options that are given, with the encoding as readers name it. */
function optionsOf({ encoding, ...rest }: ContentFile['options']): Partial<SourceOptions> {
  const { format, compression, csvDelimiter, csvColumns, rootPath, sheet, entry } = rest
  return definedOf({
    ...{ format, compression, csvDelimiter, csvColumns, rootPath, sheet, entry },
    encoding: encoding === undefined ? undefined : encodingOf(encoding),
  })
}

const fileOf = ({ path, fileName, contentType, options }: ContentFile): AnalyzedFile => ({
  path,
  ...(fileName !== undefined && { fileName }),
  ...(contentType !== undefined && { contentType }),
  options: optionsOf(options),
})

/** Entries in batches, with how many bytes of the content they have taken. */
async function openContent(
  content: ContentFile,
  reading: ReadOptions,
): Promise<{ batches: AsyncIterable<readonly RawRow[]>; bytes: () => number }> {
  const options = await detectFile(fileOf(content))
  if (byPosition.has(options.format) || options.compression === 'zip') {
    return { batches: openRows({ path: content.path }, options, reading), bytes: () => 0 }
  }
  const stream = createReadStream(content.path, { highWaterMark: 256 * 1024 })
  return { batches: openRows({ stream }, options, reading), bytes: () => stream.bytesRead }
}

/** Gathers what rows met, by rule and field. */
function createFaultLog() {
  const faults = new Map<string, { -readonly [K in keyof LoggedFault]: LoggedFault[K] }>()
  return {
    add(kind: LoggedFault['kind'], rule: string, path: string, value: unknown): void {
      const id = `${kind} ${rule} ${path}`
      const known = faults.get(id)
      if (known) known.count++
      else if (faults.size < maxFaults) {
        faults.set(id, { kind, rule, path, sample: value === undefined ? '' : maskSample(value), count: 1 })
      }
    },
    list: (): LoggedFault[] => [...faults.values()],
  }
}

async function importRows(content: ContentFile, fields: readonly WorkerField[]): Promise<void> {
  const key = fields.find(({ isKey }) => isKey)?.name
  const map = rowMapper(fields.filter(({ selected }) => selected))
  const lines = createLineWriter()
  const faults = createFaultLog()
  let [read, stored, refused, waiting] = [0, 0, 0, 0]
  process.on('message', () => {
    waiting--
  })
  const { batches, bytes } = await openContent(content, {
    onFault: ({ rule, message }) => {
      read++
      refused++
      faults.add('dropped', rule, '', message)
    },
  })
  const counts = (): ReadCounts => ({ read, stored, refused, bytes: Math.min(bytes(), content.bytes) })

  function drop(rule: string, path: string, value?: unknown): void {
    refused++
    faults.add('dropped', rule, path, value)
  }

  function addRow(raw: RawRow): void {
    read++
    const mapped = map(raw)
    const { row } = mapped
    for (const { rule, field, sample } of mapped.faults) {
      faults.add(row ? 'changed' : 'dropped', rule, field, sample)
    }
    if (!row || Object.keys(row).length === 0) {
      if (row) faults.add('dropped', 'empty_row', '', undefined)
      refused++
      return
    }
    const value = key !== undefined && Object.hasOwn(row, key) ? row[key] : undefined
    if (key !== undefined && (value === undefined || value === '')) {
      drop('key_missing', key)
      return
    }
    const text = value === undefined ? undefined : keyOf(value)
    if (text !== undefined && text.length > maxKeyLength) {
      drop('key_too_long', key ?? '', text)
      return
    }
    const before = lines.size()
    lines.add(stored + 1, text, row)
    if (lines.size() - before > maxRowBytes) {
      throw new ImportRefused('content-too-large', `row ${read} is larger than 1 MB`)
    }
    stored++
  }

  async function give(): Promise<void> {
    waiting++
    await say({ kind: 'lines', lines: lines.take(), counts: counts() })
    while (waiting >= maxWaiting) await once(process, 'message')
  }

  for await (const batch of batches) {
    for (const raw of batch) addRow(raw)
    if (read > maxRows) {
      throw new ImportRefused('content-too-large', `the content has more than ${maxRows} rows`)
    }
    if (lines.size() >= lineBytes) await give()
  }
  if (lines.size() > 0) await give()
  await say({ kind: 'read', counts: { ...counts(), bytes: content.bytes }, faults: faults.list() })
}

async function analyze(content: ContentFile): Promise<void> {
  const { fields, rows } = await analyzeFile(fileOf(content))
  if (rows === 0) throw new ImportRefused('no-rows', 'the content has no rows')
  await say({ kind: 'fields', fields })
}

async function work(job: ProcessJob): Promise<void> {
  try {
    if (job.kind === 'import') await importRows(job.content, job.fields)
    else await analyze(job.content)
  } catch (error) {
    const { message } = error as Error
    if (error instanceof ImportRefused) await say({ kind: 'refused', reason: error.reason, message })
    else if (error instanceof SourceFault || error instanceof RuleFault) {
      await say({ kind: 'refused', reason: 'content-unreadable', message })
    } else await say({ kind: 'failed', message: (error as Error).stack ?? message })
  }
}

// The service kills it once it has all, before Node.js would keep what it has compiled.
flushCompileCache()
// Without the service nothing takes the rows.
process.once('disconnect', () => process.exit())
process.once('message', (job: ProcessJob) => void work(job))
