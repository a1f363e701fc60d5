import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { NativeResult } from './native.ts'
import type { Pipe } from './pipes.ts'
import type { RunningStatement } from './statement.ts'

/** In no format a row: whoever reads it gives up the whole insert. */
const poison = '\n\0the rows end before their end\n'

/** So many bytes wait here at most while the engine is busy with earlier ones. */
const highWater = 256 * 1024

/**
 * Hands rows to a statement that reads them from a pipe, as they come. When they break off, the statement fails as
 * it does for a bad row: the end of the pipe must not pass for the end of the rows.
 * @throws the engine's exception, or what broke the rows off
 */
export async function feedRows(
  rows: Readable,
  pipe: Pipe,
  statement: RunningStatement,
): Promise<NativeResult> {
  const ended = new AbortController()
  void statement.gone.then(() => ended.abort())
  const writer = await pipe.openWriter(ended.signal)
  if (writer !== undefined) {
    const closed = new Promise<void>((resolve) => writer.once('close', () => resolve()))
    // The engine stopped reading; its answer says why.
    writer.on('error', () => {})
    try {
      await pump(rows, writer, ended.signal)
    } catch (error) {
      await statement.cancel()
      await written(writer, poison, ended.signal)
      throw error
    } finally {
      writer.destroy()
      await closed
    }
  }
  // What nobody read is thrown away, so that the sender comes to read the answer.
  rows.resume()
  return statement.answer
}

/** @throws what broke the rows off; returns when all are written or nobody reads them any more */
async function pump(rows: Readable, writer: Socket, ended: AbortSignal): Promise<void> {
  for await (const chunk of rows.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (ended.aborted || writer.destroyed) return
    if (writer.writableLength + chunk.length < highWater) writer.write(chunk)
    else await written(writer, chunk, ended)
  }
  if (writer.writableLength > 0) await written(writer, '', ended)
}

/** Resolves when this and everything before it is in the pipe, or will never be. */
function written(writer: Socket, chunk: Buffer | string, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (writer.destroyed || ended.aborted) return resolve()
    const settle = (): void => {
      writer.off('close', settle)
      ended.removeEventListener('abort', settle)
      resolve()
    }
    writer.once('close', settle)
    ended.addEventListener('abort', settle, { once: true })
    writer.write(chunk, settle)
  })
}
