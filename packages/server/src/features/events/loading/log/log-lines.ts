import type { QuarantinedEvent } from '../staged-rows.ts'

/** A row that was refused, and what it stands for. */
export interface RefusedRow extends QuarantinedEvent {
  /** `e` for an event, else the kind of a row of the datasource log. */
  readonly kind: string
  /** Events that a row of the datasource log counts. */
  readonly events: number
}

const newline = 10

/** The lines of a payload, each with its newline. */
export function linesOf(payload: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start < payload.length; ) {
    const found = payload.indexOf(newline, start)
    const end = found < 0 ? payload.length : found + 1
    lines.push(payload.subarray(start, end))
    start = end
  }
  return lines
}

const noId = '0'.repeat(24)

/** A row that every working engine accepts. */
export const controlLine = Buffer.from(
  `${JSON.stringify({ q: 1, z: 'e', k: noId, d: noId, t: 0, r: 0, e: 'control', n: 'control', u: '', p: 'control' })}\n`,
)

/**
 * What is still legible of a refused row. Rows begin with `q`, `z`, `k`, `d` and `r`, so their text tells even where
 * the rest of it is damaged.
 */
export function readRefusedRow(line: Buffer, error: string): RefusedRow {
  const text = line.toString().trimEnd()
  return {
    kind: /"z":"(\w+)"/.exec(text)?.[1] ?? 'e',
    events: Number(/"m":(\d{1,9})\b/.exec(text)?.[1] ?? 0),
    company: /"k":"([0-9a-f]{24})"/.exec(text)?.[1] ?? '',
    datasource: /"d":"([0-9a-f]{24})"/.exec(text)?.[1] ?? '',
    sequence: Number(/"q":(\d{1,16})\b/.exec(text)?.[1] ?? 0),
    receivedAt: Number(/"r":(\d{1,15})\b/.exec(text)?.[1] ?? 0),
    error: error.slice(0, 2_000),
    line: text,
  }
}
