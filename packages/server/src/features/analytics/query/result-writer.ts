import type { Warning } from '@millrace/contract/envelope.ts'
import { csvText } from '../../../platform/text/csv.ts'
import type { CompiledQuery } from './compile/compile.ts'
import type { CellForm } from './compile/compile-groupings.ts'
import type { EngineCell } from './run.ts'
import { second, type Zone } from './time/zone.ts'

/** Ways to write a result. */
export type ResultFormat = 'json' | 'ndjson' | 'csv'

/** Writes a result as text, piece by piece: `begin`, then rows as they come, then `end`. */
export interface ResultWriter {
  begin(): string
  rows(rows: readonly (readonly EngineCell[])[]): string
  end(): string
  /** What to know about the rows that were written. */
  warnings(): Warning[]
}

type ResultColumns = Pick<CompiledQuery, 'columns' | 'rangeLabels'>

export function createResultWriter(format: ResultFormat, shape: ResultColumns, zone: Zone): ResultWriter {
  switch (format) {
    case 'json':
      return jsonWriter(shape, zone)
    case 'ndjson':
      return lineWriter(shape, zone)
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

/** So many characters of a decimal are few enough digits for any double. */
const shortDecimal = 15

/** Whether a program that reads a decimal as a double has all of its digits. */
function isExactAsDouble(decimal: string): boolean {
  if (decimal.length <= shortDecimal) return true
  const shortest = decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
  return String(Number(decimal)) === shortest
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

/** How the rows of JSON are written, cell by cell. */
interface JsonCells extends Pick<ResultWriter, 'warnings'> {
  readonly cells: readonly ((cell: EngineCell) => string)[]
}

function jsonCells({ columns, rangeLabels }: ResultColumns, zone: Zone): JsonCells {
  const inexact = new Set<string>()
  const cells = columns.map(({ key, form }, i) => {
    const prefix = `${i === 0 ? '{' : ','}${JSON.stringify(key)}:`
    const read = readerOf(form, rangeLabels, zone)
    const write = jsonWriterOf(form, read)
    return (cell: EngineCell) => {
      if (form === 'number' && typeof cell === 'string' && !isExactAsDouble(cell)) inexact.add(key)
      return prefix + (cell === null ? 'null' : write(cell))
    }
  })
  // Of a query's columns those with numbers are its measures, in their order.
  const measures = columns.filter(({ form }) => form === 'number').map(({ key }) => key)
  return {
    cells,
    warnings: () =>
      [...inexact].map((key) => ({
        path: `measures.${measures.indexOf(key)}`,
        message: `${key} has more digits than a program keeps that reads JSON numbers as doubles: read them as decimals, or ask for CSV`,
      })),
  }
}

function jsonRow(cells: readonly ((cell: EngineCell) => string)[], row: readonly EngineCell[]): string {
  let text = ''
  let i = 0
  for (const write of cells) text += write(row[i++] ?? null)
  return `${text}}`
}

function lineWriter(shape: ResultColumns, zone: Zone): ResultWriter {
  const { cells, warnings } = jsonCells(shape, zone)
  return {
    begin: () => '',
    rows: (rows) => rows.map((row) => `${jsonRow(cells, row)}\n`).join(''),
    end: () => '',
    warnings,
  }
}

function jsonWriter(shape: ResultColumns, zone: Zone): ResultWriter {
  const { cells, warnings } = jsonCells(shape, zone)
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
    warnings,
  }
}

/** RFC 4180 with a header of keys; an absent value is empty, an empty text is `""`. */
function csvWriter({ columns, rangeLabels }: ResultColumns, zone: Zone): ResultWriter {
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
    // All digits stand there as text.
    warnings: () => [],
  }
}
