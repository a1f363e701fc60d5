import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import type { MappedRow, RowFault, RowValue } from '../analyzer/row.ts'
import type { RawRow, SourceOptions } from '../formats/source-options.ts'

export function detectSource(head: Buffer, fileName = '', _contentType = ''): SourceOptions {
  const isGzip = head[0] === 0x1f && head[1] === 0x8b
  const name = fileName.replace(/\.gz$/, '')
  const isLines = /\.(ndjson|jsonl)$/.test(name) || head.toString('latin1').trimStart().startsWith('{')
  return { format: isLines ? 'ndjson' : 'csv', ...(isGzip && { compression: 'gzip' }) }
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

export function rowMapper(fields: readonly WorkerField[]): (raw: RawRow) => MappedRow {
  return (raw) => {
    const row: Record<string, RowValue> = {}
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
