import type { Readable } from 'node:stream'
import { queryLimits } from '@millrace/contract/resources/query.ts'
import { DomainError } from '../../platform/errors.ts'
import type { DiskRoom } from '../../platform/files/disk-reserve.ts'
import { createSpool, type Spool } from '../../platform/files/spool.ts'
import { success } from '../../platform/http/envelope.ts'
import { createQueryLimiter } from './query/query-limiter.ts'
import type { Answer } from './statistics-service.ts'

/** The envelope of an answer, ready to be sent. */
export interface AnswerBody {
  readonly length: number
  /** A stream where it is not in memory. */
  readonly body: Readable | Buffer
}

export type AnswerBodies = ReturnType<typeof createAnswerBodies>

/** Answers of one company that are held in files, from their first bytes there until they are sent. */
const maxFilesOfCompany = 8

export function createAnswerBodies(options: {
  /** Where answers that are too large for the memory are held. */
  readonly directory: string
  readonly room: DiskRoom
  /** Maximum bytes of `data` as it is sent. */
  readonly maxBytes?: number
}) {
  const { directory, room, maxBytes = queryLimits.envelopeBytes } = options
  const limiter = createQueryLimiter({ running: maxFilesOfCompany, waiting: 0, what: 'large answers' })

  async function fill(spool: Spool, pieces: AsyncIterable<string>): Promise<void> {
    for await (const piece of pieces) {
      await spool.write(JSON.stringify(piece).slice(1, -1))
      if (spool.size > maxBytes) throw tooLarge(maxBytes)
    }
  }

  return {
    /**
     * Collects the whole answer, so that a failure is known before the status is sent. A stream must be ended.
     * @throws {DomainError} `resultTooLarge`, `tooManyRequests`, `unavailable`, and what the answer throws
     */
    async collect(answer: Answer, companyId: string): Promise<AnswerBody> {
      let leave = () => {}
      const onFile = async () => {
        leave = await limiter.enter(companyId)
      }
      const spool = createSpool({ directory, room, onFile })
      try {
        await fill(spool, answer.pieces)
        const [before, after] = aroundData(answer)
        const length = Buffer.byteLength(before) + spool.size + Buffer.byteLength(after)
        const body = spool.read(before, after)
        if (!Buffer.isBuffer(body)) body.once('close', leave)
        return { length, body }
      } catch (error) {
        await spool.discard()
        leave()
        throw isOfFiles(error) ? new DomainError('unavailable', {}, { cause: error }) : error
      }
    },
  }
}

/** The success envelope in two parts, between which the text of `data` stands. */
function aroundData({ warnings, total }: Answer): readonly [before: string, after: string] {
  const mark = '"data":"'
  const count = total()
  const text = JSON.stringify({
    ...success(''),
    ...(count === undefined ? {} : { total: count }),
    ...(warnings.length > 0 ? { warnings } : {}),
  })
  const at = text.indexOf(mark) + mark.length
  return [text.slice(0, at), text.slice(at)]
}

function tooLarge(limit: number): DomainError {
  return new DomainError(
    'resultTooLarge',
    { limit, unit: 'bytes' },
    {
      message:
        `The result has more than the ${limit} bytes that an envelope holds: ask with "Accept: text/csv" or ` +
        '"Accept: application/x-ndjson", which stream it whatever its size, or for fewer rows',
    },
  )
}

/** No room, no more files, a disk that fails: nothing that is wrong with the query. */
function isOfFiles(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && !(error instanceof DomainError)
}
