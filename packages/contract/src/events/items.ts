import { type Draft, type DroppedEvent, drop, readIdentifier } from './draft.ts'
import { type IdEntry, isIdentifier, readIds } from './ids.ts'
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
  if (!read) return drop('ids-wrong-type', 'data.ids', offendingPart(sent))
  return store(read, sent, draft) ?? drop('ids-none-left', 'data.ids', lastRemoved(read) ?? sent)
}

/** `data.id` is a label like any other: where it holds no identifiers it says nothing about the event. */
function readAlias(id: unknown, eventName: string, draft: Draft): readonly string[] {
  if (id === undefined || !itemEvents.has(eventName)) return noIds
  const read = readIds(id, eventName) || []
  if (!read.some(isIdentifier)) return noIds
  draft.note('ids-from-id', 'data.id', id)
  return store(read, id, draft) ?? noIds
}

/** Undefined where no identifier is among the entries. */
function store(entries: readonly IdEntry[], sent: unknown, draft: Draft): readonly string[] | undefined {
  const ids = entries.filter(isIdentifier)
  if (ids.length === 0) return undefined
  if (ids.length < entries.length) draft.note('ids-placeholder', 'data.ids', lastRemoved(entries))
  if (ids.length > eventLimits.ids) draft.note('ids-too-many', 'data.ids', sent)
  return ids.slice(0, eventLimits.ids).map((id) => readIdentifier(draft, 'data.ids', id, eventLimits.id))
}

/** An entry that is no identifier, for the log; undefined where all are. */
function lastRemoved(entries: readonly IdEntry[]): string | undefined {
  const removed = entries.findLast((entry) => !isIdentifier(entry))
  return removed === null ? 'null' : removed
}

function offendingPart(sent: unknown): unknown {
  if (!Array.isArray(sent)) return sent
  return sent.find((entry) => typeof entry !== 'string' && entry !== null)
}
