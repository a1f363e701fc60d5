import { type Draft, type DroppedEvent, drop, readIdentifier } from './draft.ts'
import { type Ids, readIds } from './ids.ts'
import { eventLimits } from './limits.ts'

const noIds: readonly string[] = []

/** Events about items: for them `data.id` without `data.ids` is the latter, sent under a wrong name. */
const itemEvents: ReadonlySet<string> = new Set([
  'product_page',
  'product_hover',
  'add_cart',
  'purchase',
  'purchase_references',
])

/** The identifiers of the items involved; a drop where they were sent in a form that the rules refuse. */
export function readItems(
  data: Record<string, unknown>,
  eventName: string,
  draft: Draft,
): readonly string[] | DroppedEvent {
  const sent = data.ids
  if (sent === undefined) return readAlias(data.id, eventName, draft)
  const read = readIds(sent, eventName)
  if (read === undefined) return drop('ids-wrong-type', 'data.ids', offendingPart(sent))
  if (read.ids.length === 0) return drop('ids-none-left', 'data.ids', read.removed ?? sent)
  return store(read, sent, draft)
}

/** `data.id` is a label like any other: where it holds no identifiers it says nothing about the event. */
function readAlias(id: unknown, eventName: string, draft: Draft): readonly string[] {
  if (id === undefined || !itemEvents.has(eventName)) return noIds
  const read = readIds(id, eventName)
  if (read === undefined || read.ids.length === 0) return noIds
  draft.note('ids-from-id', 'data.id', id)
  return store(read, id, draft)
}

function store(read: Ids, sent: unknown, draft: Draft): readonly string[] {
  if (read.removed !== undefined) draft.note('ids-placeholder', 'data.ids', read.removed)
  if (read.tooMany) draft.note('ids-too-many', 'data.ids', sent)
  return read.ids.map((id) => readIdentifier(draft, 'data.ids', id, eventLimits.id))
}

function offendingPart(sent: unknown): unknown {
  if (!Array.isArray(sent)) return sent
  return sent.find((entry) => typeof entry !== 'string' && entry !== null)
}
