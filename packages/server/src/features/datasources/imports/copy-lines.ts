import { Buffer } from 'node:buffer'

/** What a store of texts cannot hold: NUL, and halves of characters. */
const unstorable = /\\u(?:0000|d[89a-f][0-9a-f]{2})/

function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed()
  if (Array.isArray(value)) return value.map(storable)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [storable(key) as string, storable(each)]),
  )
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const escapedText = (text: string): string =>
  text.replaceAll(/[\\\t\n\r]/g, (letter) => escapes[letter] ?? '')

/** Key as it is kept and looked up: texts as they are, numbers as JSON writes them. */
export function keyOf(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : JSON.stringify(value)
}

/** Text of COPY in PostgreSQL for rows of a version: position, key, row. */
export function createLineWriter() {
  let lines: string[] = []
  let size = 0
  return {
    add(position: number, key: string | undefined, row: object): void {
      let json = JSON.stringify(row)
      if (json.includes('\\')) {
        if (unstorable.test(json)) json = JSON.stringify(storable(row))
        // JSON has escaped tabs and line ends already.
        json = json.replaceAll('\\', '\\\\')
      }
      const line = `${position}\t${key === undefined ? '\\N' : escapedText(key)}\t${json}\n`
      size += line.length
      lines.push(line)
    },
    /** Bytes that are gathered. */
    size: (): number => size,
    /** Gives what is gathered, and begins anew. */
    take(): Uint8Array {
      const text = lines.join('')
      lines = []
      size = 0
      return Buffer.from(text)
    },
  }
}
