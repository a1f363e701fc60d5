import type { Evidence } from '@millrace/contract/resources/evidence.ts'

/** The list of reports shows it, so that it is small. */
const maxBytes = 8 * 1024
const maxRows = 3

/** Of the evidence of a generation that failed, what the list of reports shows: those that failed first. */
export function shownEvidence(all: readonly Evidence[]): Evidence[] {
  const ordered = [...all].sort((a, b) => Number(b.state === 'failure') - Number(a.state === 'failure'))
  const shown: Evidence[] = []
  let bytes = 0
  for (const { rows, ...evidence } of ordered) {
    const first = rows.slice(0, maxRows)
    const small = { ...evidence, rows: first, embeddedRowCount: first.length }
    bytes += Buffer.byteLength(JSON.stringify(small))
    if (bytes > maxBytes) break
    shown.push(small)
  }
  return shown
}
