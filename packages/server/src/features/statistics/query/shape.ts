import { csvText } from '../../../platform/text/csv.ts'
import type { CompiledQuery } from './compile/compile.ts'
import type { CellForm } from './compile/compile-groupings.ts'
import type { EngineCell } from './run.ts'
import { startOfLocal } from './time/calendar.ts'
import { second, type Zone } from './time/zone.ts'

/** Ways to write a result. */
export type ResultFormat = 'json' | 'ndjson' | 'csv'

/** Writes a result as text, piece by piece: `begin`, then rows as they come, then `end`. */
export interface ResultWriter {
  begin(): string
  rows(rows: readonly (readonly EngineCell[])[]): string
  end(): string
}

type CompiledShape = Pick<CompiledQuery, 'columns' | 'rangeLabels'>

export function createResultWriter(format: ResultFormat, shape: CompiledShape, zone: Zone): ResultWriter {
  switch (format) {
    case 'json':
      return jsonWriter(shape, zone)
    case 'ndjson':
      return { begin: () => '', rows: lineWriter(shape, zone), end: () => '' }
    case 'csv':
      return csvWriter(shape, zone)
  }
}

/** The text of a cell of another type: a time, a number, a boolean; never of an absent value. */
type CellReader = (cell: Exclude<EngineCell, null>) => string

function readerOf(form: CellForm, rangeLabels: readonly string[], zone: Zone): CellReader {
  switch (form) {
    case 'range':
      return (cell) => rangeLabels[Number(cell)] ?? ''
    case 'date':
      return remembering((cell) => zone.format(zone.instantOf(Date.parse(`${cell}T00:00:00Z`))))
    case 'seconds':
      return (cell) => zone.format(Number(cell) * second)
    case 'minute':
    case 'hour':
      return (cell) => {
        const instant = Number(cell) * second
        const offset = zone.offsetAt(instant)
        return zone.format(startOfLocal(instant + offset, form) - offset, offset)
      }
    case 'milliseconds':
      return (cell) => zone.format(Number(cell))
    case 'text':
    case 'boolean':
    case 'number':
      return String
  }
}

/** Days repeat in every group, and finding the start of one is slow: it is cached. */
function remembering(read: CellReader): CellReader {
  const known = new Map<EngineCell, string>()
  return (cell) => {
    let text = known.get(cell)
    if (text === undefined) {
      text = read(cell)
      known.set(cell, text)
    }
    return text
  }
}

/** The JSON text of a number: the digits that the engine wrote, however many, so that a column has one type. */
function jsonNumber(cell: Exclude<EngineCell, null>): string {
  return typeof cell === 'string' ? cell : JSON.stringify(cell)
}

/** Generated texts need no escapes. */
function jsonWriterOf(form: CellForm, read: CellReader): CellReader {
  switch (form) {
    case 'number':
      return jsonNumber
    case 'boolean':
      return String
    case 'text':
      return JSON.stringify
    default:
      return (cell) => `"${read(cell)}"`
  }
}

function jsonCells({ columns, rangeLabels }: CompiledShape, zone: Zone): ((cell: EngineCell) => string)[] {
  return columns.map(({ key, form }, i) => {
    const prefix = `${i === 0 ? '{' : ','}${JSON.stringify(key)}:`
    const read = readerOf(form, rangeLabels, zone)
    const write = jsonWriterOf(form, read)
    return (cell) => prefix + (cell === null ? 'null' : write(cell))
  })
}

function jsonRow(cells: readonly ((cell: EngineCell) => string)[], row: readonly EngineCell[]): string {
  let text = ''
  let i = 0
  for (const write of cells) text += write(row[i++] ?? null)
  return `${text}}`
}

function lineWriter(shape: CompiledShape, zone: Zone): ResultWriter['rows'] {
  const cells = jsonCells(shape, zone)
  return (rows) => rows.map((row) => `${jsonRow(cells, row)}\n`).join('')
}

function jsonWriter(shape: CompiledShape, zone: Zone): ResultWriter {
  const cells = jsonCells(shape, zone)
  let separator = ''
  return {
    begin: () => '[',
    rows(rows) {
      let text = ''
      for (const row of rows) {
        text += separator + jsonRow(cells, row)
        separator = ','
      }
      return text
    },
    end: () => ']',
  }
}

/** RFC 4180 with a header of keys; an absent value is empty, an empty text is `""`. */
function csvWriter({ columns, rangeLabels }: CompiledShape, zone: Zone): ResultWriter {
  const cells = columns.map(({ form }) => {
    const read = readerOf(form, rangeLabels, zone)
    return (cell: EngineCell) => {
      if (cell === null) return ''
      return form === 'text' ? csvText(String(cell)) : read(cell)
    }
  })
  return {
    begin: () => `${columns.map(({ key }) => csvText(key)).join(',')}\r\n`,
    rows: (rows) =>
      rows.map((row) => `${cells.map((write, i) => write(row[i] ?? null)).join(',')}\r\n`).join(''),
    end: () => '',
  }
}
