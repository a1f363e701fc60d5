import { rm, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { insertPipePath } from './insert-pipe.ts'
import type { NativeResult } from './native.ts'
import type { Pipe } from './pipes.ts'
import { pump, ReaderClosed, writeAll } from './pump.ts'
import type { RunningStatement } from './statement.ts'

/** No row in any format: the engine gives up the whole insert. */
const poison = Buffer.from('\n\0the rows end before their end\n')

/** Where the rows of an insert come from. */
export interface RowSource {
  /** The request's body. It ends after all rows, or breaks off, also where the rows do not come in it. */
  readonly body: Readable
  /** The token under which the sender writes the rows beside the request (insert-pipe.ts). */
  readonly beside?: string
}

/**
 * Hands rows to a statement that reads them from a pipe, as they come. When they break off, the statement fails as
 * it does for a bad row: the end of the pipe must not pass for the end of the rows. It cannot before the body has
 * ended, because this side keeps the pipe open until then, whichever side writes to it.
 * @throws the engine's exception, or what broke the rows off
 */
export async function feedRows(
  { body, beside }: RowSource,
  pipe: Pipe,
  statement: RunningStatement,
): Promise<NativeResult> {
  const ended = new AbortController()
  void statement.gone.then(() => ended.abort())
  const name = beside === undefined ? undefined : insertPipePath(dirname(pipe.path), beside)
  const writer = await pipe.openWriter(ended.signal)
  if (writer !== undefined) {
    try {
      if (name === undefined) await pump(body, writer)
      else {
        await symlink(pipe.path, name)
        await untilEnd(body)
      }
    } catch (error) {
      await statement.cancel()
      if (!(error instanceof ReaderClosed)) {
        await writeAll(writer, [poison]).catch(() => {})
        throw error
      }
    } finally {
      await writer.close()
      if (name !== undefined) await rm(name, { force: true })
    }
  }
  // What was not read is discarded, so that the sender comes to read the answer.
  body.resume()
  return statement.answer
}

/** @throws when the body breaks off */
async function untilEnd(body: Readable): Promise<void> {
  for await (const _ of body.iterator({ destroyOnReturn: false })) {
    // Its only message is its end.
  }
}
