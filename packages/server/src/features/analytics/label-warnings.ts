import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Warning } from '@millrace/contract/envelope.ts'
import type { Filter, Query } from '@millrace/contract/resources/query.ts'
import { maxParameterNames } from '../../database/workflow-columns.ts'
import { nearestName } from '../../platform/text/nearest.ts'
import { findDimension, labelDimension } from './catalogue/catalogue.ts'
import type { SourceId } from './catalogue/member.ts'
import { listFilters, nameOf } from './query/parse/parse-filters.ts'
import { shown } from './query/parse/parse-members.ts'
import { type LabelKeys, shownLabels } from './statistics-store.ts'

/** A label that a query names. */
export interface LabelUse {
  readonly source: SourceId
  readonly key: string
  readonly path: string
}

/** More of them do not help, and each is compared with every known key. */
const maxWarnings = 10

/** A member that a question names, and where. */
export interface MemberUse {
  readonly id: string
  readonly path: string
}

/** The members that filters name. */
export function membersOfFilters(filters: readonly Filter[], path = 'filters'): MemberUse[] {
  return listFilters(filters, path).map(([filter, at]) => ({ id: nameOf(filter), path: at }))
}

/** The dimensions that a query names, and what its filters name. */
export function membersIn({ dimensions, filters }: Query): MemberUse[] {
  const grouped = dimensions.map((id, i) => ({ id, path: `dimensions.${i}` }))
  return [...grouped, ...membersOfFilters(filters)]
}

/** The labels among members, each once, where it is named first. */
export function labelsAmong(named: readonly MemberUse[]): LabelUse[] {
  const uses = new Map<string, LabelUse>()
  for (const { id, path } of named) {
    const found = findDimension(id)
    if (found?.label !== undefined && !uses.has(id)) {
      uses.set(id, { source: found.source, key: found.label, path })
    }
  }
  return [...uses.values()]
}

/** Labels that no fact of the company has had, as far as the list of keys can tell: it ends after so many. */
export function unknownLabels(uses: readonly LabelUse[], known: LabelKeys): LabelUse[] {
  return uses.filter(({ source, key }) => {
    const keys = known[source] ?? []
    const last = keys.at(-1)
    if (keys.includes(key)) return false
    // Those that came first are listed, so nothing is known of others once the list is full.
    if (source === 'workflows') return keys.length < maxParameterNames
    return keys.length < shownLabels || (last !== undefined && comesBefore(key, last))
  })
}

/** By their bytes, as the list is ordered. */
function comesBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
}

export async function warnOfLabels(unknown: readonly LabelUse[], known: LabelKeys): Promise<Warning[]> {
  const warnings: Warning[] = []
  for (const { source, key, path } of unknown.slice(0, maxWarnings)) {
    const nearest = nearestName(key, known[source] ?? [])
    const hint = nearest === undefined ? '' : `; did you mean ${shown(labelDimension(source, nearest).id)}?`
    const kind = source === 'workflows' ? 'parameter' : 'label'
    const message = `none of your ${source} has had the ${kind} ${shown(key)}: it is absent in all of them${hint}`
    warnings.push({ path, message })
    await yieldToOthers()
  }
  return warnings
}
