import { isPlainObject } from '@millrace/contract/events/plain-objects.ts'
import { boundedFields } from './bounded-fields.ts'

/**
 * What is not kept of a context: what the event has in another place (address, time, sender), what identifies a
 * device or a person beside the identities of the call, and what is about the library.
 */
const leftOut: ReadonlySet<string> = new Set([
  'ip',
  'userAgent',
  'userAgentData',
  'library',
  'traits',
  'page.url',
  'page.path',
  'page.search',
  'page.referrer',
  'device.id',
  'device.advertisingId',
  'device.token',
])

/**
 * Adds the context of a call to its labels, as `context.app.version` or `context.locale`; a campaign under the names that
 * its parameters have in addresses, as `utm_source`. A label that is there stays.
 */
export function addContextLabels(
  labels: Record<string, unknown>,
  context: Readonly<Record<string, unknown>>,
): void {
  const add = (key: string, value: unknown): void => {
    if (!Object.hasOwn(labels, key)) labels[key] = value
  }
  for (const key of Object.keys(context)) {
    const value = context[key]
    if (leftOut.has(key)) continue
    if (!isPlainObject(value)) add(`context.${key}`, value)
    else {
      for (const inner of Object.keys(boundedFields(value))) {
        if (key === 'campaign') add(`utm_${inner === 'name' ? 'campaign' : inner}`, value[inner])
        else if (!leftOut.has(`${key}.${inner}`)) add(`context.${key}.${inner}`, value[inner])
      }
    }
  }
}
