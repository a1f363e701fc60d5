import type { IncomingMessage } from 'node:http'
import { type Admission, overloaded } from '../admission.ts'
import { createInflater } from './inflate-body.ts'
import { readBody } from './read-body.ts'

/**
 * Reads the body of a request, inflated, and gives it to `use`, which answers once its events are durable. Until then
 * the request holds its place and its bytes.
 * @returns undefined when the connection was closed before the end of the body
 * @throws {DomainError} eventsTooLarge, malformedEvents, unsupportedMediaType, collectorOverloaded (rejects)
 */
export type TakeBody = <T>(
  request: IncomingMessage,
  use: (body: Buffer) => Promise<T>,
) => Promise<T | undefined>

export function createBodyTaker(admission: Admission): TakeBody {
  const inflate = createInflater()
  return async (request, use) => {
    let held = 0
    let entered = false
    const hold = (bytes: number): boolean => {
      held += bytes
      return admission.hold(bytes)
    }
    try {
      const sent = await readBody(request, hold)
      if (sent === undefined) return undefined
      entered = admission.enter()
      if (!entered) throw overloaded()
      const encoding = request.headers['content-encoding']
      const body = encoding === undefined ? sent : await inflate(sent, encoding)
      if (body !== sent && !hold(body.length)) throw overloaded()
      return await use(body)
    } finally {
      if (entered) admission.leave()
      admission.release(held)
    }
  }
}
