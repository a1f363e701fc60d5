import type { DatasourceActivity } from '@millrace/contract/resources/datasource-activity.ts'
import type { LogEntry } from '../../data/datasources.ts'

/** Why the first event is not there yet, as far as it can be seen. */
export type Fault =
  | { readonly kind: 'rule'; readonly rule: string; readonly path: string }
  | { readonly kind: 'silent' }

/** After so long without an event the screen says what may be wrong. */
export const silentAfterMs = 60_000

/** The newest fault first, each rule once. */
export function faultsOf(
  entries: readonly DatasourceActivity[],
  log: readonly LogEntry[],
  isAnythingAccepted: boolean,
  waitedMs: number,
): readonly Fault[] {
  const found = new Map<string, Fault>()
  const add = (rule: string, path: string) => {
    if (!found.has(rule)) found.set(rule, { kind: 'rule', rule, path })
  }
  for (const { outcome, rule, path = '' } of entries) {
    if (outcome === 'bot') add('crawler', '')
    else if (rule !== undefined) add(rule, path)
  }
  for (const { kind, rule, path } of log) {
    if (kind === 'dropped' || kind === 'bot' || kind === 'refused') add(rule, path)
  }
  if (found.size > 0) return [...found.values()].slice(0, 3)
  return !isAnythingAccepted && waitedMs >= silentAfterMs ? [{ kind: 'silent' }] : []
}
