import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ModelRequest {
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: { readonly model: string; readonly messages: readonly { role: string; content: string }[] }
}

/** An OpenAI-compatible interface on this machine, whose answers tests decide. */
export async function startLanguageModelServer() {
  const received: ModelRequest[] = []
  const server = createServer(async (request, reply) => {
    let body = ''
    for await (const piece of request) body += piece
    received.push({ url: request.url, headers: request.headers, body: JSON.parse(body) })
    running.answer(reply, received.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const running = {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    received,
    /** @param count requests that have come, this one included */
    answer: (_reply: ServerResponse, _count: number): void => undefined,
    /** Answers as a model does that says these, one after the other, and the last one ever after. */
    say(...contents: readonly string[]): void {
      received.length = 0
      running.answer = (reply, count) => {
        const content = contents[Math.min(count, contents.length) - 1]
        reply.setHeader('content-type', 'application/json')
        reply.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] }))
      }
    },
    close(): void {
      server.closeAllConnections()
      server.close()
    },
  }
  return running
}
