import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'

export type TextFormat = 'csv' | 'ndjson' | 'json' | 'xml'

const rowsOfBlock = 5000
const words = 'wooden lantern with a heart and the white garden chair for your kitchen in red or blue'.split(
  ' ',
)

interface Shape {
  readonly start: string
  readonly end: string
  readonly separator: string
  readonly row: (values: Readonly<Record<string, string>>) => string
}

const columns = ['id', 'title', 'price', 'stock', 'updated_at', 'image_url']

const shapes: Readonly<Record<TextFormat, Shape>> = {
  csv: {
    start: `${columns.join(',')}\n`,
    end: '\n',
    separator: '\n',
    row: (values) => columns.map((name) => values[name]).join(','),
  },
  ndjson: { start: '', end: '\n', separator: '\n', row: (values) => JSON.stringify(values) },
  json: {
    start: '{"meta":{"n":1},"products":[\n',
    end: ']}',
    separator: ',\n',
    row: (values) => JSON.stringify(values),
  },
  xml: {
    start: '<feed>\n',
    end: '</feed>',
    separator: '\n',
    row: (values) =>
      `<product>${columns.map((name) => `<${name}>${values[name]}</${name}>`).join('')}</product>`,
  },
}

/** Writes a catalogue of products of at least so many bytes; identifiers go on, the rest repeats. */
export async function writeLargeFile(path: string, format: TextFormat, minBytes: number): Promise<number> {
  const { start, end, separator, row } = shapes[format]
  const block = Array.from({ length: rowsOfBlock }, (_, index) =>
    row({
      id: `p@-${index}`,
      title: Array.from({ length: 8 }, (_, word) => words[(index * 7 + word * 3) % words.length]).join(' '),
      price: ((index % 900) + 0.99).toFixed(2),
      stock: index % 10 === 0 ? '' : String(index % 50),
      updated_at: new Date(1_700_000_000_000 + index * 60_000).toISOString(),
      image_url: `https://shop.example/images/${index}.jpg`,
    }),
  ).join(separator)
  const file = await open(path, 'w')
  try {
    let bytes = (await file.write(start)).bytesWritten
    for (let number = 0; bytes < minBytes; number++) {
      const text = (number === 0 ? '' : separator) + block.replaceAll('p@', `p${number}`)
      bytes += (await file.write(text)).bytesWritten
    }
    bytes += (await file.write(end)).bytesWritten
    return bytes
  } finally {
    await file.close()
  }
}

export interface Measured {
  /** What the program prints. */
  readonly result: unknown
  /** Highest resident memory of the process, in bytes. */
  readonly peakBytes: number
  readonly milliseconds: number
}

const source = (path: string) => new URL(`../../src/features/datasources/${path}`, import.meta.url).href

const programs = {
  analyze: (path: string) => `
    const { analyzeFile } = await import(${JSON.stringify(source('analyzer/analyze-file.ts'))})
    started = performance.now()
    const { fields, rows } = await analyzeFile({ path: ${JSON.stringify(path)} })
    result = { fields, rows }`,
  read: (path: string, format: TextFormat) => `
    const { openRows } = await import(${JSON.stringify(source('formats/open-rows.ts'))})
    started = performance.now()
    result = 0
    for await (const batch of openRows({ path: ${JSON.stringify(path)} }, { format: ${JSON.stringify(format)} })) result += batch.length`,
}

/** Analyzes or reads a file in a process of its own. */
export async function measureFile(
  what: keyof typeof programs,
  path: string,
  format: TextFormat,
): Promise<Measured> {
  const program = `let started, result
    ${programs[what](path, format)}
    const milliseconds = performance.now() - started
    console.log(JSON.stringify({ result, milliseconds, peakBytes: process.resourceUsage().maxRSS * 1024 }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  return JSON.parse(stdout) as Measured
}
