import { truncateAmount } from './amounts.ts'
import { type Draft, type DroppedEvent, drop, readIdentifier, readIdentifierText } from './draft.ts'
import { eventLimits } from './limits.ts'
import { isPlaceholder } from './placeholders.ts'
import type { DropRuleId } from './rules.ts'

const purchaseRules = {
  'not-number': 'purchase-value-not-number',
  joined: 'purchase-value-joined',
  'out-of-range': 'purchase-value-out-of-range',
} as const satisfies Record<string, DropRuleId>

/**
 * `data.value` truncated to two decimals, undefined where none was sent. What is no amount drops a `purchase`
 * and is left out of any other event. Null is no amount for a purchase (it was meant to be one).
 */
export function readValue(
  value: unknown,
  eventName: string,
  draft: Draft,
): string | undefined | DroppedEvent {
  if (value === undefined) return undefined
  const isPurchase = eventName === 'purchase'
  if (value === null && !isPurchase) return undefined
  const amount = truncateAmount(value)
  if (amount.kind === 'amount') {
    if (amount.floatTail) draft.note('value-float-tail', 'data.value', value)
    return amount.text
  }
  if (isPurchase) return drop(purchaseRules[amount.kind], 'data.value', value)
  draft.note('value-ignored', 'data.value', value)
  return undefined
}

/** `data.transId` as text, `''` where it is absent or cannot be meant. */
export function readTransId(value: unknown, draft: Draft): string {
  if (value === undefined || value === null || value === '') return ''
  const text = readIdentifierText(value)
  if (text === undefined) {
    draft.note('trans-id-wrong-type', 'data.transId', value)
    return ''
  }
  if (isPlaceholder(text)) {
    // Purchases with one transId are one purchase: a placeholder would merge them all.
    draft.note('trans-id-placeholder', 'data.transId', text)
    return ''
  }
  if (typeof value === 'number') draft.note('number-as-text', 'data.transId', value)
  return readIdentifier(draft, 'data.transId', text, eventLimits.transId)
}
