import { createHash } from 'node:crypto'

export type Row = Readonly<Record<string, string | number | boolean | null>>

/** JSON whose keys are sorted, so that equal rows have one text. */
function canonicalRow(row: Row): string {
  const keys = Object.keys(row).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(row[key])}`).join(',')}}`
}

/** SHA-256 of all rows as canonical JSON, in hexadecimal: equal for equal results. */
export function resultHash(rows: readonly Row[]): string {
  const hash = createHash('sha256').update('[')
  for (const [i, row] of rows.entries()) hash.update((i === 0 ? '' : ',') + canonicalRow(row))
  return hash.update(']').digest('hex')
}
