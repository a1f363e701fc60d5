import type { TProperties, TSchema } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from './envelope.ts'
import type { Method, Operation, ReplyDocument, Scope, Tag } from './operation.ts'
import type { Permission, PermissionName } from './permissions.ts'
import { object, pagination } from './resources/formats.ts'
import { etag } from './revision.ts'

/** What every operation has, and the errors of those that add none to the errors of their scope. */
interface Head<Id extends string> extends Pick<Operation, 'method' | 'url' | 'scope' | 'tag' | 'errors'> {
  readonly id: Id
  readonly permission?: Permission
}

/** The first line of the operations of a file: their group and scope, and of each its id, address and permission. */
export const operationsOf =
  (tag: Tag, scope: Scope = 'authenticated') =>
  <const Id extends string>(id: Id, method: Method, url: string, permission?: PermissionName): Head<Id> => {
    const [resource, action] = permission?.split(':') ?? []
    return {
      id,
      method,
      url,
      scope,
      tag,
      errors: [],
      ...(permission && { permission: { resource, action } as Permission }),
    }
  }

type Parts = Pick<Operation['schema'], 'params' | 'querystring' | 'headers' | 'body'>
type Nothing = Record<never, never>

/** The parts as they are given: without any, `satisfies Operation` would have them be those of every operation. */
const asGiven = <P extends Parts>(parts: P) => parts as NoInfer<P>

const described = (reply: ReplyDocument): Pick<Operation, 'replies'> => ({ replies: { 200: reply } })

/** The success envelope as the answer, the parts of the request, and examples of `data`. */
export function answers<T extends TSchema, P extends Parts = Nothing>(
  description: string,
  data: T,
  parts: P = {} as P,
  examples?: ReplyDocument['examples'],
) {
  return {
    ...described({ description, ...(examples && { examples }) }),
    schema: { ...asGiven(parts), response: { 200: successEnvelope(data) } },
  }
}

/** The same with the revision of `data` as `ETag`, for what several users save. */
export function answersRevision<T extends TSchema, P extends Parts = Nothing>(
  description: string,
  data: T,
  parts: P = {} as P,
  examples?: ReplyDocument['examples'],
) {
  const reply = { description, headers: etag, ...(examples && { examples }) }
  return { ...answers(description, data, parts), ...described(reply) }
}

/** A success without data. */
export const succeeds = <P extends Parts = Nothing>(description: string, parts: P = {} as P) =>
  answers(description, EmptyObject, parts)

/** One page of a list, chosen by `page`, `perPage` and further parameters of the query. */
export function lists<T extends TSchema, Q extends TProperties = Nothing, P extends Parts = Nothing>(
  description: string,
  item: T,
  query: Q = {} as Q,
  parts: P = {} as P,
  examples?: ReplyDocument['examples'],
) {
  const querystring = object({ ...pagination, ...query })
  return {
    ...described({ description, ...(examples && { examples }) }),
    schema: { ...asGiven(parts), querystring, response: { 200: paginatedEnvelope(item) } },
  }
}

export const example = <const V>(summary: string, value: V) => ({ summary, value })
