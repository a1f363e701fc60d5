import { Readable } from 'node:stream'
import type { Warning } from '@millrace/contract/envelope.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../platform/errors.ts'
import { signalOfLeaving } from '../../platform/http/route.ts'
import type { Principal } from '../identity/sessions/principal.ts'
import type { AnswerBodies } from './answer-body.ts'
import type { ResultFormat } from './query/shape.ts'
import { bareTypes, readWantedResult, type WantedResult } from './result-format.ts'
import type { Answer, AnswerRequest } from './statistics-service.ts'

/** A request of an operation that answers rows: a query or an exploration. */
type AnsweredRequest = Pick<FastifyRequest, 'principal' | 'headers'> & {
  readonly query: { readonly format?: 'csv' }
}

/**
 * Replies with the rows of an answer in the form that the request wants: in the envelope, or bare and streamed. What
 * fails before the first row is a failure of the operation.
 */
export type SendAnswer = (
  request: AnsweredRequest,
  reply: FastifyReply,
  ask: (asked: AnswerRequest) => Answer,
) => Promise<FastifyReply>

export function createSendAnswer(bodies: AnswerBodies): SendAnswer {
  return async (request, reply, ask) => {
    const { format, streamed } = readWantedRows(request)
    const signal = signalOfLeaving(reply)
    const { companyId, userId } = request.principal
    const answer = ask({ companyId, userId, readerId: userId, format, streamed, signal })
    reply.header('vary', 'accept').header('cache-control', 'no-store')
    if (format !== 'json' && streamed) {
      const stream = await readableOf(answer.pieces, signal)
      return addWarnings(reply, answer).type(bareTypes[format]).send(stream)
    }
    const { length, stream } = await bodies.gather(answer, companyId)
    return reply.type('application/json; charset=utf-8').header('content-length', length).send(stream)
  }
}

/**
 * The form in which a request wants rows.
 * @throws {DomainError} `notAcceptable`; `forbidden` for CSV without the permission to export
 */
export function readWantedRows({ principal, headers, query }: AnsweredRequest): WantedResult {
  const wanted = readWantedResult(headers.accept, query.format)
  assertMayRead(principal, wanted.format)
  return wanted
}

/** CSV leaves the product with the data, which a role can withhold (docs/interface.md, Who may call). */
function assertMayRead(principal: Principal, format: ResultFormat): void {
  if (format !== 'csv' || principal.can('statistics', 'export')) return
  const permission = { resource: 'statistics', action: 'export' } as const
  throw new DomainError('forbidden', permission, {
    message: 'Your role does not allow exports: CSV needs the permission Statistics: export',
  })
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
