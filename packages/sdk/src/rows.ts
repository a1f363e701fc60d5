import { ConnectionError, type ErrorContext, UnexpectedReplyError } from './errors.ts'

/** Characters of one row; far more than a row of the service can have. */
const maxRowLength = 16 * 1024 * 1024

/** The same bytes, no faster than they are read, and errors as `explain` gives them. */
export function explained(
  body: ReadableStream<Uint8Array>,
  explain: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(explain(error))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/**
 * The rows of an NDJSON answer, read as they are used: while the caller works on one, no more than the buffers of the
 * connection is fetched. Leaving the loop ends the request.
 * @throws {ConnectionError} where the answer ends before its last row does
 */
export async function* readRows<Row>(
  body: ReadableStream<Uint8Array>,
  context: ErrorContext,
): AsyncGenerator<Row, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let pending = 0
  let isDone = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true })
      const lines = text.split('\n')
      // A row may come in many chunks: its pieces are joined once, when its end is there.
      const last = lines.pop() ?? ''
      for (const line of lines) {
        pieces.push(line)
        yield parseRow<Row>(pieces.join(''), context)
        pieces.length = 0
        pending = 0
      }
      pieces.push(last)
      pending += last.length
      if (pending > maxRowLength)
        throw new UnexpectedReplyError(
          `${context.operation} gave a row of more than ${maxRowLength} characters`,
          context,
        )
      if (done) break
    }
    isDone = true
    if (pending > 0) throw cutOff(context)
  } finally {
    if (!isDone) await reader.cancel().catch(() => {})
    reader.releaseLock()
  }
}

function parseRow<Row>(line: string, context: ErrorContext): Row {
  try {
    return JSON.parse(line) as Row
  } catch (cause) {
    throw new UnexpectedReplyError(`${context.operation} gave a row that is no JSON: ${line.slice(0, 200)}`, {
      ...context,
      cause,
    })
  }
}

function cutOff(context: ErrorContext): ConnectionError {
  return new ConnectionError(
    `${context.operation} was cut off: its last row is not whole, what came before it is not all`,
    context,
  )
}
