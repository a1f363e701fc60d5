import { type CollectedBody, type ContentType, parseBody, parseJsonBody } from '../body/collector-body.ts'
import type { CallRequest, CallType } from '../segment/map-call.ts'
import { mapBody, objectOf } from '../segment/segment-body.ts'
import { readWriteKey } from '../segment/write-key.ts'

/** How the events of a body are written: as such, or as calls in the Segment shape. */
export type BodyForm =
  | { readonly shape: 'events'; readonly type: ContentType }
  | {
      readonly shape: 'calls'
      readonly type: ContentType
      /** Of the one call that the body is; undefined for a batch. */
      readonly call: CallType | undefined
      /** The datasource of the request, which the body may name once more. */
      readonly key: string
    }

/**
 * The events of a body, as they were sent.
 * @throws {DomainError} emptyEvents, malformedEvents, eventsTooLarge, invalidDatasourceId
 */
export function readEvents(
  body: Buffer,
  form: BodyForm,
  received: Pick<CallRequest, 'companyId' | 'receivedAt'>,
): CollectedBody {
  if (form.shape === 'events') return parseBody(body, form.type)
  const calls = objectOf(parseJsonBody(body, form.type))
  readWriteKey(calls, form.key)
  return mapBody(calls, form.call, received)
}
