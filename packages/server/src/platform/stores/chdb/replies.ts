import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { EngineReply } from './engine.ts'
import { describeException, statusOf } from './exceptions.ts'
import { contentTypeOf } from './formats.ts'
import type { NativeResult } from './native.ts'

/** What is held of a streamed result: one up to this size is sent when it is whole, so that its failure has a status. */
const heldBytes = 256 * 1024

export interface ReplyContext {
  readonly response: ServerResponse
  readonly queryId: string
  readonly version: string
  /** Aborts when the client has closed the connection. */
  readonly left: AbortSignal
}

export async function sendReply(context: ReplyContext, reply: EngineReply): Promise<void> {
  if (reply.kind === 'stream') return sendStream(context, reply)
  const { response } = context
  writeHead(context, 200, {
    'Content-Type': contentTypeOf(reply.format),
    'X-ClickHouse-Format': reply.format,
    'X-ClickHouse-Summary': summaryOf(reply.result),
    'Content-Length': String(reply.result.bytes.length),
  })
  response.end(reply.result.bytes)
}

export function sendException(context: ReplyContext, error: unknown): void {
  const { code, text } = describeException(error)
  const body = Buffer.from(`${text} (version ${context.version})\n`)
  writeHead(context, statusOf(code), {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(code),
    'Content-Length': String(body.length),
  })
  context.response.end(body)
}

async function sendStream(
  context: ReplyContext,
  reply: Extract<EngineReply, { kind: 'stream' }>,
): Promise<void> {
  const { response } = context
  const tag = randomBytes(8).toString('hex')
  let held: Buffer[] = []
  let heldSize = 0

  /** In few large pieces: the reader takes memory for each. @returns whether more may follow at once */
  const send = (): boolean => {
    if (!response.headersSent) {
      writeHead(context, 200, {
        'Content-Type': contentTypeOf(reply.format),
        'X-ClickHouse-Format': reply.format,
        'X-ClickHouse-Exception-Tag': tag,
      })
    }
    const piece = Buffer.concat(held)
    held = []
    heldSize = 0
    return response.write(piece)
  }

  try {
    for await (const chunk of reply.source as AsyncIterable<Buffer>) {
      held.push(chunk)
      heldSize += chunk.length
      if (heldSize > heldBytes && !send()) await once(response, 'drain', { signal: context.left })
    }
  } catch {
    // The source was given up: the answer says why, or the client has left.
  }
  if (response.destroyed) return
  try {
    await reply.answer
  } catch (error) {
    if (!response.headersSent) return sendException(context, error)
    response.write(exceptionBlock(tag, `${describeException(error).text} (version ${context.version})`))
    // Without the last chunk no reader takes the result for a whole one.
    response.socket?.end()
    return
  }
  send()
  response.end()
}

/** How a server of version 25.11 and later reports a failure after the first bytes. */
function exceptionBlock(tag: string, text: string): string {
  const length = Buffer.byteLength(text) + 1
  return `\r\n__exception__\r\n${tag}\r\n${text}\n${length} ${tag}\r\n__exception__\r\n`
}

function writeHead(context: ReplyContext, status: number, headers: Record<string, string>): void {
  context.response.writeHead(status, {
    'X-ClickHouse-Query-Id': encodeURIComponent(context.queryId),
    'X-ClickHouse-Timezone': 'UTC',
    ...headers,
  })
}

function summaryOf(result: NativeResult): string {
  return JSON.stringify({
    read_rows: String(result.rowsRead),
    read_bytes: String(result.bytesRead),
    elapsed_ns: String(Math.round(result.elapsed * 1e9)),
  })
}
