import { brotliDecompressSync, gunzipSync } from 'node:zlib'

/** Bytes; of longer bodies, which are streams, nothing is kept. */
const maxBytes = 4 * 1024 * 1024

/** Keeps a copy of a body as its chunks pass. */
export function keepBody() {
  let chunks: Buffer[] = []
  let bytes = 0
  return {
    add(chunk: string | Uint8Array): void {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(Buffer.from(chunk))
      else chunks = []
    },
    /** Undefined where it was too long. @param coding the `Content-Encoding` of the chunks */
    text(coding?: string): string | undefined {
      if (bytes > maxBytes) return undefined
      const body = Buffer.concat(chunks)
      return (
        coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body
      ).toString()
    },
  }
}
