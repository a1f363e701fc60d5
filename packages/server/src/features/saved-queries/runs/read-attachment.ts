import type { ReadAttachment } from '../../../platform/mail/mail-queue.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { readSource } from './run-mails.ts'
import { createRunStore } from './run-store.ts'

/** Reads what mails about runs carry. */
export function createAttachmentReader(db: Queries): ReadAttachment {
  const runs = createRunStore(db)
  return async (source) => {
    const { index, ...run } = readSource(source)
    const pieces: Buffer[] = []
    for await (const piece of runs.readPieces(run, index)) pieces.push(piece)
    return pieces.length === 0 ? undefined : Buffer.concat(pieces)
  }
}
