import { drop } from '@millrace/contract/events/draft.ts'
import { judgeEvent } from '@millrace/contract/events/judge.ts'
import { eventLimits } from '@millrace/contract/events/limits.ts'
import type { Finding } from '@millrace/contract/events/rules.ts'
import { maskSample } from '@millrace/contract/events/samples.ts'
import type { CollectedBody } from './collector-body.ts'
import { eventHead, eventRow, logRow, type RowOrigin } from './event-row.ts'
import { LogRows } from './log-rows.ts'

/** What becomes of one request: rows of the event log without their sequence numbers, and what they count. */
export interface JudgedRequest {
  readonly rows: readonly string[]
  readonly kept: number
  /** Kept events of which a field was changed. */
  readonly changed: number
  readonly dropped: number
}

/** What is asked of each kept event besides: whether its name is worth a note. */
export type SeeName = (name: string) => boolean

/**
 * Judges every event of a request alone and writes its row; what is dropped or changed becomes rows of the
 * datasource log, so that counts are as durable as events.
 * @param senderText the sender as keys of a row
 */
export function judgeRequest(
  body: CollectedBody,
  origin: RowOrigin,
  senderText: string,
  seeName: SeeName,
): JudgedRequest {
  const head = eventHead(origin, senderText)
  const rows: string[] = []
  let changed = 0
  let dropped = 0
  let notes: LogRows | undefined

  const dropBy = (reason: Finding): void => {
    dropped++
    notes ??= new LogRows()
    notes.add('dropped', reason)
  }

  for (const event of body.events) {
    const judged = judgeEvent(event, origin)
    if (!judged.kept) {
      dropBy(judged.reason)
      continue
    }
    const row = eventRow(judged, head)
    if (isTooLarge(row)) {
      dropBy(drop('event-too-large', '', event).reason)
      continue
    }
    rows.push(row)
    if (seeName(judged.name)) {
      notes ??= new LogRows()
      notes.add('noted', { rule: 'names-too-many', path: 'name', sample: maskSample(judged.name) })
    }
    if (judged.changes.length === 0) continue
    changed++
    notes ??= new LogRows()
    for (const change of judged.changes) notes.add('changed', change)
  }
  for (const line of body.unreadableLines) dropBy(drop('line-unparseable', '', line).reason)

  const kept = rows.length
  if (notes) for (const note of notes) rows.push(logRow(note, origin))
  return { rows, kept, changed, dropped }
}

/** Bytes are counted only where characters alone do not tell: one takes three bytes at most. */
function isTooLarge(row: string): boolean {
  if (row.length * 3 <= eventLimits.storedBytes) return false
  return Buffer.byteLength(row) > eventLimits.storedBytes
}
