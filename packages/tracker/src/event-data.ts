import { truncateAmount } from '@millrace/contract/events/amounts.ts'
import { isIdentifier, readIds } from '@millrace/contract/events/ids.ts'
import { isPlainObject } from '@millrace/contract/events/plain-objects.ts'
import type { ChangeRuleId, DropRuleId } from '@millrace/contract/events/rules.ts'

/** Why an event is not sent: a rule of the collector, or that page views are not collected from web pages. */
type Refusal = DropRuleId | 'page_view'

/**
 * `data` as it is sent, with `ids` and `value` normalised as the collector does it; the rule that drops the event
 * where one does (docs/interface.md, Events). The value is a text, which is exact.
 * @param note is given the event's name and the rule of what was changed
 */
export const readEventData = (
  name: unknown,
  data: unknown,
  note: (name: string, rule: ChangeRuleId) => void,
): Record<string, unknown> | Refusal => {
  if (name === 'page_view') return name
  if (!name || typeof name !== 'string') return 'required-field-missing'
  if (!isPlainObject(data)) return 'data-not-object'
  const read = { ...data }
  if (data.ids !== undefined) {
    const entries = readIds(data.ids, name)
    if (!entries) return 'ids-wrong-type'
    const ids = entries.filter(isIdentifier)
    if (!ids[0]) return 'ids-none-left'
    if (ids.length < entries.length) note(name, 'ids-placeholder')
    read.ids = ids
  }
  if (name === 'purchase' && data.value !== undefined) {
    const amount = truncateAmount(data.value)
    if (typeof amount === 'string') return `purchase-value-${amount}`
    read.value = amount[0]
  }
  return read
}
