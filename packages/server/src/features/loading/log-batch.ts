import { Readable } from 'node:stream'
import { comparePositions, type EventLog, type Position } from '../../platform/stores/event-log.ts'

/** Bytes read from the log at a time: verifying and copying them holds up the event loop for a millisecond. */
export const pieceBytes = 2 * 1024 * 1024

/** What the next batch is: few enough rows to be held in memory, or a stream of them. */
export type LogBatchPlan =
  | { readonly kind: 'lines'; readonly payload: Buffer; readonly rows: number; readonly next: Position }
  | {
      readonly kind: 'stream'
      readonly body: Readable
      /** Rows given so far; all of them when the body has ended. */
      rows(): number
      next(): Position
      /** Why the log could not be read on; whoever reads the body sees it end early. */
      error(): unknown
    }

/**
 * Plans the next batch: what is in the log now, from a position on, but no more than about `maxBytes`. Up to
 * `pieceBytes` it is always one of lines.
 * @returns undefined when there is nothing
 */
export async function planBatch(
  log: Pick<EventLog, 'read' | 'end'>,
  from: Position,
  maxBytes: number,
): Promise<LogBatchPlan | undefined> {
  const end = log.end()
  const first = await log.read(from, Math.min(pieceBytes, maxBytes))
  if (!first) return undefined
  const more = (position: Position, bytes: number): boolean =>
    bytes < maxBytes && comparePositions(position, end) < 0
  if (maxBytes <= pieceBytes || !more(first.next, first.payload.length)) {
    return { kind: 'lines', payload: first.payload, rows: first.count, next: first.next }
  }
  let rows = 0
  let next = first.next
  let failure: unknown

  async function* pieces(): AsyncGenerator<Buffer> {
    let bytes = 0
    try {
      for (let piece = first; piece; ) {
        rows += piece.count
        bytes += piece.payload.length
        next = piece.next
        if (piece.payload.length > 0) yield piece.payload
        if (!more(next, bytes)) return
        const following = await log.read(next, pieceBytes)
        if (!following) return
        piece = following
      }
    } catch (error) {
      failure = error
      throw error
    }
  }

  const body = Readable.from(pieces(), { objectMode: false, highWaterMark: 1 })
  return { kind: 'stream', body, rows: () => rows, next: () => next, error: () => failure }
}
