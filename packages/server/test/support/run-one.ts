import type { LedgerWork } from '../../src/platform/work/ledger-work.ts'

/** Runs what is due longest in the first queue that has something. @returns false when nothing is due in any */
export async function runOneOf(works: readonly LedgerWork[]): Promise<boolean> {
  for (const work of works) if (await work.runOne()) return true
  return false
}
