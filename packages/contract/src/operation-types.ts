import type { Static, TSchema } from 'typebox'
import type { AnyOperation } from './operations/all.ts'

/** Body of an operation that takes a file. */
type Content = string | ArrayBuffer | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>

type Part<Name extends string, Schema> = [Schema] extends [TSchema]
  ? object extends Static<Schema>
    ? { readonly [K in Name]?: Static<Schema> }
    : { readonly [K in Name]: Static<Schema> }
  : unknown

type BodyPart<O> = O extends { schema: { body: infer S extends TSchema } }
  ? { readonly body: Static<S> }
  : O extends { described: { body: infer S extends TSchema } }
    ? { readonly body: Static<S> }
    : O extends { consumes: readonly ['application/octet-stream'] }
      ? { readonly body: Content }
      : unknown

type ParamsOf<O> = O extends { schema: { params: infer S } }
  ? S
  : O extends { described: { params: infer S } }
    ? S
    : undefined

type Merged<T> = { [K in keyof T]: T[K] }

type RequestOf<O> = Merged<
  Part<'params', ParamsOf<O>> &
    Part<'query', O extends { schema: { querystring: infer S } } ? S : undefined> &
    Part<'headers', O extends { schema: { headers: infer S } } ? S : undefined> &
    BodyPart<O>
>

/** Bodies of the statuses that are no failures; an empty one is undefined. */
type BodyOf<O> = O extends { schema: { response: infer R } }
  ? {
      [Status in keyof R]: Status extends 200 | 201 | 202 | 204 | 302 | 303
        ? R[Status] extends TSchema
          ? Static<R[Status]> extends null
            ? undefined
            : Static<R[Status]>
          : never
        : never
    }[keyof R]
  : never

type DataOf<Body> = Body extends { status: 'success'; data: infer Data } ? Data : Body

type ItemOf<Body> = Body extends { paginationCount?: number; data: (infer Item)[] } ? Item : never

type StreamOf<O> = O extends { replies: { 200: { alternatives: infer Alternatives } } }
  ? keyof Alternatives & ('text/csv' | 'application/x-ndjson')
  : never

/** What a caller of one operation sends and gets. */
type OperationTypesOf<O> = {
  /** `params`, `query`, `headers` and `body`, those that the operation has. */
  readonly request: RequestOf<O>
  /** The whole body of the answer: the envelope, or what stands in its place. */
  readonly body: BodyOf<O>
  /** `data` of the envelope, or the body where there is no envelope. */
  readonly data: DataOf<BodyOf<O>>
  /** One item of a list that has pages; never otherwise. */
  readonly item: ItemOf<BodyOf<O>>
  /** Content types that the bare result can be streamed in. */
  readonly stream: StreamOf<O>
}

/** The types of every operation by its id. */
export type OperationTypes = { readonly [O in AnyOperation as O['id']]: OperationTypesOf<O> }
