import { comparePositions, type EventLog, type Position } from '../../../../platform/stores/event-log.ts'

/** Memory for batches of an ordinary second; the system gives pages only as far as they are used. */
const ordinaryBytes = 8 * 1024 * 1024

/**
 * Memory for what is read of the log. The pieces of large batches have two halves: one piece is read into one while
 * the rows of the other are sent to the engine; they are held only while there is a backlog. Ordinary batches share
 * one place: new memory each second makes the garbage collector mark the whole heap each second, and that takes the
 * cores from the collector.
 */
export class PieceMemory {
  readonly pieceBytes: number
  #halves: Buffer[] = []
  #turn = 0
  #ordinary: Buffer | undefined

  constructor(pieceBytes: number) {
    this.pieceBytes = pieceBytes
  }

  ordinary(): Buffer {
    this.#ordinary ??= Buffer.allocUnsafeSlow(ordinaryBytes)
    return this.#ordinary
  }

  next(): Buffer {
    this.#turn = 1 - this.#turn
    const half = this.#halves[this.#turn] ?? Buffer.allocUnsafeSlow(this.pieceBytes + 1024)
    this.#halves[this.#turn] = half
    return half
  }

  free(): void {
    this.#halves = []
  }
}

/** What the next batch is: so few rows that they are in memory, or pieces to be read one by one. */
export type LogBatchPlan =
  | { readonly kind: 'lines'; readonly payload: Buffer; readonly rows: number; readonly next: Position }
  | {
      readonly kind: 'pieces'
      readonly pieces: AsyncIterable<Buffer>
      /** Rows given so far; all of them when the pieces have ended. */
      rows(): number
      next(): Position
    }

/**
 * Plans the next batch: what is in the log now, from a position on, but no more than about `maxBytes`. Up to the
 * bytes of one piece it is always one of lines. The rows of a plan are good until the next one is made.
 * @returns undefined when there is nothing
 */
export async function planBatch(
  log: Pick<EventLog, 'read' | 'end'>,
  from: Position,
  maxBytes: number,
  memory: PieceMemory,
): Promise<LogBatchPlan | undefined> {
  const { pieceBytes } = memory
  const end = log.end()
  const isLong = from.segment < end.segment || end.offset - from.offset > pieceBytes
  if (!isLong) memory.free()
  const read = (position: Position) =>
    log.read(position, Math.min(pieceBytes, maxBytes), isLong ? memory.next() : memory.ordinary())
  const first = await read(from)
  if (!first) return undefined
  const more = (position: Position, bytes: number): boolean =>
    bytes < maxBytes && comparePositions(position, end) < 0
  if (maxBytes <= pieceBytes || !more(first.next, first.payload.length)) {
    return { kind: 'lines', payload: first.payload, rows: first.count, next: first.next }
  }
  let rows = 0
  let next = first.next

  async function* pieces(): AsyncGenerator<Buffer> {
    let bytes = 0
    let reading: ReturnType<EventLog['read']> = Promise.resolve(first)
    for (let piece = await reading; piece; piece = await reading) {
      rows += piece.count
      bytes += piece.payload.length
      next = piece.next
      reading = more(next, bytes) ? read(next) : Promise.resolve(undefined)
      // Reported when its turn comes, if it ever does.
      reading.catch(() => undefined)
      if (piece.payload.length > 0) yield piece.payload
    }
  }

  return { kind: 'pieces', pieces: pieces(), rows: () => rows, next: () => next }
}
