import type { Finding } from '@millrace/contract/events/rules.ts'
import type { LogRow } from './event-row.ts'

/** Rows of the datasource log from one request; a sender chooses the paths and could make thousands. */
const maxRows = 50
/** Stands for all further paths of a rule. */
const otherPaths = '*'

/**
 * Collects what the rules did to the events of one request: one row for each kind, rule and path, with the first
 * sample and the exact count. Beyond 50 rows the paths of a rule are counted together.
 */
export class LogRows {
  readonly #rows = new Map<string, LogRow & { count: number }>()

  add(kind: LogRow['kind'], finding: Finding, count = 1): void {
    const { rule, sample } = finding
    const path =
      this.#rows.size < maxRows || this.#rows.has(rowKey(kind, finding)) ? finding.path : otherPaths
    const key = rowKey(kind, { rule, path })
    const row = this.#rows.get(key)
    if (row) row.count += count
    else this.#rows.set(key, { kind, rule, path, sample, count })
  }

  *[Symbol.iterator](): Iterator<LogRow> {
    yield* this.#rows.values()
  }
}

function rowKey(kind: string, { rule, path }: { rule: string; path: string }): string {
  return `${kind} ${rule} ${path}`
}
