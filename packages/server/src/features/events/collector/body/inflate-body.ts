import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { requestLimits } from '@millrace/contract/events/limits.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { createSemaphore } from '../../../../platform/limits/semaphore.ts'
import { malformed, tooLarge } from './collector-body.ts'

/** Compressed bodies may always grow to this, and to a hundred times their size within the bound of all bodies. */
const freelyInflatedBytes = 1024 * 1024
const maxRatio = 100

/** Bodies inflated at once: they share threads with the event log, which syncs its files there. */
const inflatedAtOnce = 4

/** Undoes a `Content-Encoding`, a few bodies at a time, so that those that wait are held as they came. */
export function createInflater(): (body: Buffer, encoding: string) => Promise<Buffer> {
  const inflating = createSemaphore(inflatedAtOnce, Number.POSITIVE_INFINITY)
  return (body, encoding) => inflating.run(() => inflateBody(body, encoding))
}

/** @throws {DomainError} unsupportedMediaType, eventsTooLarge, malformedEvents */
async function inflateBody(body: Buffer, encoding: string): Promise<Buffer> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return body
  const decompress = decompressorOf(name, body)
  if (decompress === undefined) {
    throw new DomainError(
      'unsupportedMediaType',
      { accepted: ['gzip', 'deflate', 'br', 'identity'] },
      { message: `Content-Encoding "${name.slice(0, 40)}" is not supported: use one of gzip, deflate, br` },
    )
  }
  if (body.length === 0) return body
  const limit = Math.min(requestLimits.bodyBytes, Math.max(freelyInflatedBytes, body.length * maxRatio))
  try {
    return await decompress(body, { maxOutputLength: limit })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit, cause)
    throw malformed(`it is not valid ${name}`, cause)
  }
}

const ungzip = promisify(gunzip)
const unzlib = promisify(inflate)
const undeflate = promisify(inflateRaw)
const unbrotli = promisify(brotliDecompress)

function decompressorOf(name: string, body: Buffer): typeof ungzip | undefined {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return ungzip
    case 'br':
      return unbrotli
    case 'deflate':
      return hasZlibHeader(body) ? unzlib : undeflate
    default:
      return undefined
  }
}

/** "deflate" is the zlib format by RFC 9110, and the bare one by the habit of many senders. */
function hasZlibHeader(body: Buffer): boolean {
  return body.length >= 2 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0
}
