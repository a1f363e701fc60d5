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
    /** Undefined where it was too long. */
    text: (): string | undefined => (bytes <= maxBytes ? Buffer.concat(chunks).toString() : undefined),
  }
}
