import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Answer = (response: ServerResponse, request: SeenRequest) => void

/** A server that answers each request with the next of a list, the last one again and again. */
export interface ScriptedServer {
  readonly baseUrl: string
  readonly seen: SeenRequest[]
  /** Begins anew with these answers. */
  answer(...answers: Answer[]): void
  close(): Promise<void>
}

export async function openScriptedServer(): Promise<ScriptedServer> {
  const seen: SeenRequest[] = []
  let script: Answer[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    const seenRequest = { method, url, headers, body }
    seen.push(seenRequest)
    const next = script.length > 1 ? script.shift() : script[0]
    next?.(response, seenRequest)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // Below a path of its own: what it answers is not to be validated as an answer of the service.
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/scripted`,
    seen,
    answer(...answers) {
      seen.length = 0
      script = answers
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** JSON with a status. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

/** What proxies answer. */
export function page(status: number, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<html>Bad Gateway</html>')
  }
}

/** Ends the connection without an answer. */
export const hangUp: Answer = (response) => {
  response.destroy()
}

/** Never answers. */
export const silence: Answer = () => {}
