import type { IncomingMessage } from 'node:http'
import { requestLimits } from '@millrace/contract/events/limits.ts'
import type { DomainError } from '../../../../platform/errors.ts'
import { overloaded } from '../admission.ts'
import { tooLarge } from './collector-body.ts'

/** So much of a body that is too large is read and discarded, so that its sender receives the answer. */
export const discardedBytes = 4 * requestLimits.bodyBytes

/**
 * Reads a request's body whole.
 * @param hold called for every chunk that is kept; false when no more may be held in memory
 * @returns undefined when the connection was closed before the end: there is no one to answer
 * @throws {DomainError} eventsTooLarge, or collectorOverloaded where `hold` refused
 */
export function readBody(
  request: IncomingMessage,
  hold: (bytes: number) => boolean,
): Promise<Buffer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  if (Number(request.headers['content-length'] ?? 0) > discardedBytes) {
    reject(tooLarge(requestLimits.bodyBytes))
    return promise
  }
  // Closed while the datasource was looked up: the stream would emit nothing more.
  if (request.destroyed) {
    resolve(undefined)
    return promise
  }
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  let length = 0

  const stop = (error: DomainError): void => {
    request.off('data', onData)
    request.off('end', onEnd)
    reject(error)
  }
  const onData = (chunk: Buffer): void => {
    length += chunk.length
    if (length > requestLimits.bodyBytes) {
      first = undefined
      more = undefined
      if (length > discardedBytes) stop(tooLarge(requestLimits.bodyBytes))
    } else if (!hold(chunk.length)) stop(overloaded())
    else if (first === undefined) first = chunk
    else if (more === undefined) more = [first, chunk]
    else more.push(chunk)
  }
  const onEnd = (): void => {
    if (length > requestLimits.bodyBytes) reject(tooLarge(requestLimits.bodyBytes))
    else resolve(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more, length))
  }
  request.on('data', onData)
  request.on('end', onEnd)
  // Also how a truncated request ends; its events were never complete.
  request.on('error', () => resolve(undefined))
  return promise
}
