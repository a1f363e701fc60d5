import { type Granularity, granularities } from '@millrace/contract/resources/query.ts'
import { nearestName } from '../../../../platform/text/nearest.ts'
import { findDimension, findMeasure, memberIds } from '../../catalogue/catalogue.ts'
import type { Dimension, Measure } from '../../catalogue/member.ts'
import type { Grouping } from '../query.ts'
import type { QueryFaults } from '../query-faults.ts'

const granularityForm = new RegExp(`^(.+)\\.(${granularities.join('|')})$`, 's')

/** A name from outside as a message shows it. */
export function shown(id: string): string {
  return JSON.stringify(id.length > 100 ? `${id.slice(0, 97)}...` : id)
}

/** How a label is called where its key stands alone, or after a word for labels. */
const labelForm = /^(?:(?:events|purchases)\.)?(?:(?:labels?|data|properties)\.)?([A-Za-z][\w-]{0,99})$/

/** Reports an unknown member, with the nearest known one; what is no measure may be meant as a label. */
function addUnknown(id: string, path: string, faults: QueryFaults): void {
  const nearest = nearestName(id, memberIds)
  const [, key] = path.startsWith('measures') ? [] : (labelForm.exec(id) ?? [])
  const label = key === undefined ? '' : `; the label ${key} of events is events.label.${key}`
  const hint = nearest
    ? `did you mean ${nearest}?`
    : `GET /v2/statistics/meta lists all measures and dimensions${label}`
  faults.add('unknownMember', path, `there is no member ${shown(id)}; ${hint}`, id.slice(0, 400))
}

export function resolveMeasure(id: string, path: string, faults: QueryFaults): Measure | undefined {
  const measure = findMeasure(id)
  if (measure) return measure
  if (findDimension(id)) {
    faults.invalid(path, `${shown(id)} is a dimension: name it under dimensions`, id)
  } else addUnknown(id, path, faults)
  return undefined
}

/** A dimension to group by; a time can carry its granularity, as `events.time.day`. */
export function resolveDimension(id: string, path: string, faults: QueryFaults): Grouping | undefined {
  const dimension = findDimension(id)
  if (dimension?.filterOnly) {
    faults.invalid(path, `rows are not grouped by ${id}: name it under filters`, id)
    return undefined
  }
  if (dimension) return { key: id, dimension }
  const match = granularityForm.exec(id)
  const time = match ? findDimension(match[1] ?? '') : undefined
  if (match && time?.type === 'time') {
    return { key: id, dimension: time, granularity: match[2] as Granularity }
  }
  if (findMeasure(id)) {
    faults.invalid(path, `${shown(id)} is a measure: name it under measures`, id)
  } else addUnknown(id, path, faults)
  return undefined
}

export function resolveTime(id: string, path: string, faults: QueryFaults): Dimension | undefined {
  const dimension = findDimension(id)
  if (dimension?.type === 'time') return dimension
  if (dimension || findMeasure(id)) {
    const source = id.slice(0, id.indexOf('.'))
    faults.invalid(path, `${shown(id)} is no time: the time dimension is ${source}.time`, id)
  } else addUnknown(id, path, faults)
  return undefined
}

/** Any member, as a filter names it. */
export function resolveMember(
  id: string,
  path: string,
  faults: QueryFaults,
): Dimension | Measure | undefined {
  const member = findDimension(id) ?? findMeasure(id)
  if (!member) addUnknown(id, path, faults)
  return member
}
