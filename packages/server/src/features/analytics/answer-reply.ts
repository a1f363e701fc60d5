import { Readable } from 'node:stream'
import type { Warning } from '@millrace/contract/envelope.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AnswerForm, bareTypes } from '../../platform/http/answer-form.ts'
import { signalOfLeaving } from '../../platform/http/route.ts'
import type { AnswerBodies } from './answer-body.ts'
import type { Answer, AnswerRequest } from './statistics-service.ts'

/**
 * Replies with the rows of a query or an exploration in the form that was chosen: in the envelope, or bare and
 * streamed. What fails before the first row is a failure of the operation.
 */
export type SendAnswer = (
  request: Pick<FastifyRequest, 'principal'>,
  reply: FastifyReply,
  form: AnswerForm,
  ask: (asked: AnswerRequest) => Answer,
) => Promise<FastifyReply>

export function createSendAnswer(bodies: AnswerBodies): SendAnswer {
  return async (request, reply, { format, bare }, ask) => {
    const signal = signalOfLeaving(reply)
    const { companyId, userId } = request.principal
    const answer = ask({ companyId, userId, readerId: userId, format, streamed: bare, signal })
    reply.header('vary', 'accept').header('cache-control', 'no-store')
    if (format !== 'json' && bare) {
      const stream = await readableOf(answer.pieces, signal)
      return addWarnings(reply, answer).type(bareTypes[format]).send(stream)
    }
    const { length, body } = await bodies.collect(answer, companyId)
    return reply.type('application/json; charset=utf-8').header('content-length', length).send(body)
  }
}

const warningsHeader = 'x-millrace-warnings'

/** Proxies bound headers; a longer list is cut. */
const maxHeaderCharacters = 4_000

/** What is known now becomes a header of a streamed answer; the trailer has what is known at its end. */
function addWarnings(reply: FastifyReply, { warnings }: Answer): FastifyReply {
  if (warnings.length > 0) reply.header(warningsHeader, headerText(warnings))
  // HTTP/1.0 knows no chunks, behind which trailers stand.
  if (reply.request.raw.httpVersion === '1.0') return reply
  return reply.trailer(warningsHeader, (_reply, _payload, done) => done(null, headerText(warnings)))
}

/** JSON in ASCII, since a header has no other letters. */
function headerText(warnings: readonly Warning[]): string {
  let shown = warnings
  for (;;) {
    const text = JSON.stringify(shown).replaceAll(
      /[^ -~]/g,
      (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    if (text.length <= maxHeaderCharacters || shown.length <= 1) return text
    shown = shown.slice(0, -1)
  }
}

/** The pieces as a stream that begins once the first is there: what fails until then is answered as a failure. */
async function readableOf(pieces: AsyncGenerator<string>, signal: AbortSignal): Promise<Readable> {
  const first = await pieces.next()
  // A stream that was never read ends none of its generators.
  signal.addEventListener('abort', () => void pieces.return(undefined), { once: true })
  async function* all(): AsyncGenerator<string> {
    if (!first.done) yield first.value
    yield* pieces
  }
  return Readable.from(all(), { objectMode: false })
}
