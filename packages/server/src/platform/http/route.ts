import type { Operation } from '@millrace/contract/operation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { Static, TArray, TObject, TSchema } from 'typebox'
import { DomainError } from '../errors.ts'
import type { Listed, Page } from '../paging.ts'
import { type AnswerForm, answerFormOf } from './answer-form.ts'
import { entityTagOf } from './entity-tag.ts'
import { paginated, success } from './envelope.ts'

type Part = 'params' | 'querystring' | 'headers' | 'body'

/** What the validator hands over: optional fields that have a default are always there. */
type Validated<S extends TSchema> = Static<S> &
  (S extends TObject<infer F>
    ? { [K in keyof F as F[K] extends { default: unknown } ? K : never]: Static<F[K]> }
    : unknown)

/** A part of the request without a schema is unknown. */
type PartOf<O extends Operation, P extends Part> = O['schema'] extends {
  readonly [K in P]: infer S extends TSchema
}
  ? Validated<S>
  : unknown

/** A request as the schemas of its operation let it through. */
export type RequestOf<O extends Operation> = FastifyRequest<{
  Params: PartOf<O, 'params'>
  Querystring: PartOf<O, 'querystring'>
  Headers: PartOf<O, 'headers'>
  Body: PartOf<O, 'body'>
}>

/** `data` of the success envelope; nothing where that is an empty object. */
type Data<D extends TSchema> =
  D extends TObject<infer F>
    ? keyof F extends never
      ? Promise<void>
      : Promise<Static<D>>
    : Promise<Static<D>>

/** What a handler returns: `data` for the success envelope, rows and their count for the paginated envelope. */
type Answer<O extends Operation> =
  O['schema']['response'][200] extends TObject<infer F>
    ? F extends { paginationCount: TSchema; data: TArray<infer Item> }
      ? Promise<Listed<Static<Item>>>
      : F extends { data: infer D extends TSchema }
        ? Data<D>
        : NotInEnvelope
    : NotInEnvelope

/** An answer that no handler can give, in the words that the compiler shows. */
type NotInEnvelope = 'This operation does not answer 200 in an envelope: use rawRoute'

/**
 * Routes an operation that answers in the success envelope. The handler gets the request as the operation's schemas
 * describe it and returns `data`: nothing where that is empty, `rows` and `count` for a paginated list. Where the
 * operation describes an `ETag`, it is that of the revision of `data`. `leaving` makes a signal for work that is not worth ending once the caller has left.
 */
export function route<const O extends Operation>(
  scope: FastifyInstance,
  operation: O,
  handler: (request: RequestOf<O>, leaving: () => AbortSignal) => Answer<O>,
  options: Pick<RawRoute<O>, 'bodyLimit'> = {},
): void {
  const isPaginated = hasPages(operation)
  const isTagged = operation.replies?.[200]?.headers?.ETag !== undefined
  scope.route({
    ...operation,
    ...options,
    async handler(request, reply) {
      const answer: unknown = await handler(request as RequestOf<O>, () => signalOfLeaving(reply))
      if (isTagged) reply.header('etag', entityTagOf((answer as { readonly revision: number }).revision))
      if (!isPaginated) return success(answer === undefined ? {} : answer)
      const { page, perPage } = request.query as Page
      return paginated({ ...(answer as Listed<unknown>), page, perPage })
    },
  })
}

/** Aborted when the connection closes before the reply is complete. */
export function signalOfLeaving(reply: FastifyReply): AbortSignal {
  const left = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort(new DomainError('requestTimeout', {}))
  })
  return left.signal
}

function hasPages({ schema }: Operation): boolean {
  const { properties = {} } = schema.response[200] as { properties?: object }
  return 'paginationCount' in properties
}

/** Bodies that the operation describes for success, whichever of its statuses they have. */
type BodyOf<O extends Operation> = {
  [S in keyof O['schema']['response']]: Static<O['schema']['response'][S] & TSchema>
}[keyof O['schema']['response']]

export interface RawRoute<O extends Operation> {
  /** Bytes. */
  readonly bodyLimit?: number
  readonly onRequest?: onRequestAsyncHookHandler
  /** Sends the reply itself, or returns the bare body of one that is described. */
  readonly handler: (
    request: RequestOf<O>,
    reply: FastifyReply,
    form: AnswerForm,
  ) => Promise<FastifyReply | BodyOf<O>>
}

/**
 * Routes an operation whose replies are no envelopes, or not always: tokens, pages, redirects, streams, files. The
 * handler is given the form that the answer must have; who may not export is refused before it.
 */
export function rawRoute<const O extends Operation>(
  scope: FastifyInstance,
  operation: O,
  { handler, ...options }: RawRoute<O>,
): void {
  const formOf = answerFormOf(operation)
  scope.route({
    ...operation,
    ...options,
    handler: async (request, reply) => handler(request as RequestOf<O>, reply, formOf(request)),
  })
}
