import type { EventLog, LogBatch, Position } from '../../src/platform/stores/event-log.ts'

/** Reads a log to its end. */
export const readLog = async (
  log: EventLog,
  from: Position = log.start(),
  maxBytes = 1_000_000,
): Promise<{ lines: string[]; batches: LogBatch[]; next: Position }> => {
  const lines: string[] = []
  const batches: LogBatch[] = []
  let next = from
  for (let batch = await log.read(next, maxBytes); batch; batch = await log.read(next, maxBytes)) {
    const text = batch.payload.toString()
    if (batch.count > 0) lines.push(...text.slice(0, -1).split('\n'))
    batches.push(batch)
    next = batch.next
  }
  return { lines, batches, next }
}
