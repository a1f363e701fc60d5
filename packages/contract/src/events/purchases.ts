import { missesNextCent, truncateAmount } from './amounts.ts'
import { type Draft, type DroppedEvent, drop, readIdentifier } from './draft.ts'
import { readIdentifierText } from './identifiers.ts'
import { eventLimits } from './limits.ts'
import { isPlaceholder } from './placeholders.ts'

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
  const plain = readPlainAmount(value)
  if (plain !== undefined) return plain
  const amount = truncateAmount(value)
  if (typeof amount === 'object') {
    if (missesNextCent(amount)) draft.note('value-float-tail', 'data.value', value)
    return amount[0]
  }
  if (isPurchase) return drop(`purchase-value-${amount}`, 'data.value', value)
  draft.note('value-ignored', 'data.value', value)
  return undefined
}

/** Most amounts: digits without a sign, an exponent or more than two decimals, of which nothing is cut. */
const plainAmount = /^(?:0|[1-9]\d{0,14})(?:\.\d\d?)?$/

/** Such an amount with two decimals; undefined for any other. The general reading takes several times as long. */
function readPlainAmount(value: unknown): string | undefined {
  // Up to here integers are exact and print without an exponent.
  if (Number.isSafeInteger(value)) return `${value as number}.00`
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value)
  if (!plainAmount.test(text)) return undefined
  const point = text.indexOf('.')
  if (point < 0) return `${text}.00`
  return point === text.length - 2 ? `${text}0` : text
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
