import { readIdentifierText } from '@millrace/contract/events/identifiers.ts'
import { builtInEvents } from '@millrace/contract/events/names.ts'
import { renameReserved } from './reserved-names.ts'

type Data = Record<string, unknown>

/** An event of an online shop as the Segment specification names it, in our terms. */
interface CommerceEvent {
  readonly name: string
  /** Reserved fields of `data`, each with the properties of which the first that is there gives it. */
  readonly fields: Readonly<Record<string, readonly string[]>>
}

const product = ['products', 'product_id', 'sku', 'id']

const order: CommerceEvent = {
  name: 'purchase',
  fields: { ids: product, value: ['total', 'revenue', 'value'], transId: ['order_id', 'orderId'] },
}
const view: CommerceEvent = { name: 'product_page', fields: { ids: product } }
const list: CommerceEvent = { name: 'category_view', fields: { ids: ['category', 'list_id'] } }
const addition: CommerceEvent = { name: 'add_cart', fields: { ids: product } }
const click: CommerceEvent = { name: 'product_hover', fields: { ids: product } }

/** By lower-case name: those of the second version of the specification, and of the first. */
const commerceEvents: ReadonlyMap<string, CommerceEvent> = new Map([
  ['order completed', order],
  ['completed order', order],
  ['product viewed', view],
  ['viewed product', view],
  ['product list viewed', list],
  ['viewed product category', list],
  ['product added', addition],
  ['added product', addition],
  ['product clicked', click],
])

/** Properties that events of shops are read from. */
export const commerceProperties: readonly string[] = [
  ...new Set([...commerceEvents.values()].flatMap(({ fields }) => Object.values(fields).flat())),
]

/** The longest name of the table: longer ones need no look at it. */
const maxNameLength = Math.max(...[...commerceEvents.keys()].map((name) => name.length))

/**
 * Name and data of a track call. Properties that become a reserved field are moved there, but for `products`, which
 * hold more than identifiers; all others become labels. Of an event under one of our own names nothing is moved.
 */
export function mapTrack(event: string, properties: Data): { name: string; data: Readonly<Data> } {
  if (builtInEvents.has(event)) return { name: event, data: properties }
  const row = event.length <= maxNameLength ? commerceEvents.get(event.toLowerCase()) : undefined
  if (row === undefined) return { name: event, data: renameReserved(properties, 'properties') }
  const moved: Data = {}
  const rest = { ...properties }
  for (const field of Object.keys(row.fields)) {
    const source = row.fields[field]?.find((each) => isPresent(properties[each], each))
    if (source === undefined) continue
    moved[field] = field === 'ids' ? idsOf(properties[source]) : properties[source]
    if (source !== 'products') delete rest[source]
  }
  // A value beside the total is another one.
  if (moved.value !== undefined && rest.value !== undefined) {
    rest['properties.value'] = rest.value
    delete rest.value
  }
  return { name: row.name, data: { ...renameReserved(rest, 'properties'), ...moved } }
}

function isPresent(value: unknown, source: string): boolean {
  if (source === 'products') return idsOf(value).length > 0
  return value !== undefined && value !== null && value !== ''
}

/** Identifiers of a list of products, or the one that a property is; numbers become texts. */
function idsOf(value: unknown): string[] {
  const entries: unknown[] = Array.isArray(value) ? value.map(idOf) : [value]
  return entries.flatMap((each) => {
    const text = readIdentifierText(each)
    return text === undefined || text === '' ? [] : [text]
  })
}

function idOf(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null) return entry
  const { product_id, sku, id } = entry as Data
  return [product_id, sku, id].find((each) => isPresent(each, ''))
}
