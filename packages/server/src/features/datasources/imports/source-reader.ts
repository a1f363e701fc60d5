import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import { parse } from 'csv-parse'

export type RawRow = Record<string, unknown>
export type Row = Readonly<Record<string, unknown>>
export interface RowFault {
  readonly field: string
  readonly rule: 'invalid_type' | 'required_values_empty'
  readonly message: string
  readonly sample?: string
}
export interface EntryFault {
  readonly rule: 'invalid_line'
  readonly entry: number
  readonly line?: number
  readonly message: string
}
export interface SourceOptions {
  readonly format: 'csv' | 'json' | 'ndjson' | 'xml' | 'xlsx' | 'parquet'
  readonly compression?: 'gzip' | 'zip'
  readonly csvDelimiter?: string
  readonly csvColumns?: readonly string[]
}
export class SourceFault extends Error {}

export function detectSource(head: Buffer, fileName = '', _contentType = ''): SourceOptions {
  const isGzip = head[0] === 0x1f && head[1] === 0x8b
  const name = fileName.replace(/\.gz$/, '')
  const isLines = /\.(ndjson|jsonl)$/.test(name) || head.toString('latin1').trimStart().startsWith('{')
  return { format: isLines ? 'ndjson' : 'csv', ...(isGzip && { compression: 'gzip' }) }
}

export async function* openRows(
  file: { readonly path: string } | { readonly stream: Readable },
  options: SourceOptions,
  { onFault }: { readonly onFault?: (fault: EntryFault) => void; readonly signal?: AbortSignal } = {},
): AsyncGenerator<RawRow[]> {
  const bytes = 'path' in file ? createReadStream(file.path) : file.stream
  const input = options.compression === 'gzip' ? bytes.pipe(createGunzip()) : bytes
  let batch: RawRow[] = []
  let entry = 0
  if (options.format === 'ndjson') {
    for await (const line of createInterface({ input })) {
      if (line.trim() === '') continue
      entry++
      try {
        batch.push(JSON.parse(line))
      } catch (error) {
        onFault?.({ rule: 'invalid_line', entry, message: (error as Error).message })
      }
      if (batch.length === 1000) {
        yield batch
        batch = []
      }
    }
  } else {
    const parser = input.pipe(
      parse({
        columns: options.csvColumns ? [...options.csvColumns] : (true as const),
        delimiter: options.csvDelimiter ?? ',',
        relax_column_count: false,
        skip_records_with_error: true,
        on_skip: () => onFault?.({ rule: 'invalid_line', entry, message: 'another number of values' }),
      }),
    )
    for await (const row of parser) {
      entry++
      batch.push(row)
      if (batch.length === 1000) {
        yield batch
        batch = []
      }
    }
  }
  if (batch.length > 0) yield batch
}

export function analyzeRows(sample: readonly RawRow[]): DatasourceField[] {
  return Object.keys(sample[0] ?? {}).map((name) => {
    const isNumber = sample.every((row) => row[name] === '' || !Number.isNaN(Number(row[name])))
    const type = isNumber ? ('number' as const) : ('string' as const)
    return {
      name: name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '_'),
      type,
      primitive: type,
      selected: false,
      rulesPerSources: { '0': [{ name: 'path', params: { value: name } }] },
    }
  })
}

export function rowMapper(fields: readonly WorkerField[]): (raw: RawRow) => {
  readonly row?: Row
  readonly faults: readonly RowFault[]
} {
  return (raw) => {
    const row: Record<string, unknown> = {}
    const faults: RowFault[] = []
    for (const { name, primitive, rulesPerSources, ignoreIfMissing } of fields) {
      const path = String(rulesPerSources['0']?.[0]?.params.value ?? name)
      const value = Object.hasOwn(raw, path) ? raw[path] : undefined
      if (value === undefined || value === '' || value === null) {
        if (ignoreIfMissing === false)
          faults.push({ field: name, rule: 'required_values_empty', message: 'empty' })
        continue
      }
      if (primitive === 'number') {
        const number = Number(value)
        if (Number.isFinite(number)) row[name] = number
        else faults.push({ field: name, rule: 'invalid_type', message: 'no number', sample: String(value) })
      } else if (primitive === 'boolean') row[name] = value === true || value === 'true'
      else row[name] = String(value)
    }
    return faults.some(({ rule }) => rule === 'required_values_empty') ? { faults } : { row, faults }
  }
}
