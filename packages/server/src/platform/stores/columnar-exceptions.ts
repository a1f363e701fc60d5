import { Transform } from 'node:stream'
import { readException } from './columnar-errors.ts'

/**
 * Passes a result on until an exception begins in it, as a server of version 25.11 and later writes one after the
 * first bytes: `\r\n__exception__\r\n<tag>\r\n<message>\n<length> <tag>\r\n__exception__\r\n`, the tag being random
 * and announced in a header before. Then fails with that exception, also where the rest of it is missing.
 */
export function exceptionGuard(tag: string): Transform {
  const marker = Buffer.from(`\r\n__exception__\r\n${tag}\r\n`)
  const closing = ` ${tag}\r\n__exception__\r\n`
  let kept: Buffer = Buffer.alloc(0)
  let exception: string | undefined

  function read(bytes: Buffer, isLast: boolean): Error | undefined {
    exception = (exception ?? '') + bytes.toString('latin1')
    const end = exception.indexOf(closing)
    if (end < 0 && !isLast) return undefined
    const text = Buffer.from(end < 0 ? exception : exception.slice(0, end), 'latin1').toString()
    // The last line holds the length alone.
    return readException(end < 0 ? text : text.slice(0, text.lastIndexOf('\n')))
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (exception !== undefined) return done(read(chunk, false))
      const bytes = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      const at = bytes.indexOf(marker)
      if (at >= 0) {
        if (at > 0) this.push(bytes.subarray(0, at))
        return done(read(bytes.subarray(at + marker.length), false))
      }
      const keep = startOfMarker(bytes, marker)
      kept = bytes.subarray(bytes.length - keep)
      done(null, keep === bytes.length ? undefined : bytes.subarray(0, bytes.length - keep))
    },
    flush(done) {
      if (exception === undefined) done(null, kept.length > 0 ? kept : undefined)
      else done(read(Buffer.alloc(0), true))
    },
  })
}

/** How many bytes at the end may be the beginning of the marker. */
function startOfMarker(bytes: Buffer, marker: Buffer): number {
  const from = Math.max(0, bytes.length - marker.length + 1)
  for (let at = bytes.indexOf(0x0d, from); at >= 0; at = bytes.indexOf(0x0d, at + 1)) {
    if (bytes.subarray(at).equals(marker.subarray(0, bytes.length - at))) return bytes.length - at
  }
  return 0
}
