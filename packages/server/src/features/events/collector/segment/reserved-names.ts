import { truncateAmount } from '@millrace/contract/events/amounts.ts'

/**
 * Properties whose names are reserved in `data` under other names, `properties.ids`: in the Segment shape they are
 * like any others, and as reserved ones they could drop the event. A `value` that is an amount stays.
 */
export function renameReserved(given: Readonly<Record<string, unknown>>, prefix: 'properties' | 'traits') {
  const { ids, value, transId, ...rest } = given
  if (ids === undefined && value === undefined && transId === undefined) return given
  const isAmount = prefix === 'properties' && typeof truncateAmount(value) !== 'string'
  return {
    ...rest,
    [`${prefix}.ids`]: ids,
    [`${prefix}.transId`]: transId,
    [isAmount ? 'value' : `${prefix}.value`]: value,
  }
}
