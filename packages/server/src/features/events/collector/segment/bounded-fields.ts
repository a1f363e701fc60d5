import { eventLimits } from '@millrace/contract/events/limits.ts'
import { commerceProperties } from './commerce-events.ts'

/** Far more than an event has labels: what is left out here would be left out by its rule, and noted the same. */
const maxFields = 2 * eventLimits.labels

/** Fields that are read by their name, and not for their place. */
const namedFields: readonly string[] = [
  ...commerceProperties,
  'ids',
  'transId',
  'name',
  'url',
  'referrer',
  'page',
  'campaign',
]

/**
 * The fields of an object as far as an event can have them: mapping copies them several times, which for hundreds of
 * thousands takes seconds.
 */
export function boundedFields(fields: Record<string, unknown>): Record<string, unknown> {
  const first: [string, unknown][] = []
  for (const key in fields) {
    const value = fields[key]
    if (value === null || value === undefined) continue
    if (first.length === maxFields) {
      const named = namedFields.filter((name) => Object.hasOwn(fields, name))
      return Object.fromEntries([...first, ...named.map((name) => [name, fields[name]] as const)])
    }
    first.push([key, value])
  }
  return fields
}
