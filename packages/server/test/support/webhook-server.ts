import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createOutgoingClient, type OutgoingClient } from '../../src/platform/outgoing/outgoing-client.ts'
import { rangesOf } from '../../src/platform/outgoing/public-addresses.ts'
import { tls } from './tls.ts'

export interface ReceivedMessage {
  readonly host: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server for webhooks on this machine, and a client to which every name leads there but those under `private`, `closed`
 * (nothing listens) and `unknown`.
 */
export interface WebhookServer {
  readonly port: number
  readonly outgoing: OutgoingClient
  /** What has arrived; tests empty it. */
  readonly received: ReceivedMessage[]
  /** How messages are answered; tests change it. */
  answer: (reply: ServerResponse) => void
  close(): void
}

export async function startWebhookServer(): Promise<WebhookServer> {
  const received: ReceivedMessage[] = []
  const server = createServer({ key: tls.key, cert: tls.certificate }, async (request, reply) => {
    let body = ''
    for await (const piece of request) body += piece
    received.push({ host: request.headers.host, url: request.url, headers: request.headers, body })
    running.answer(reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const running: WebhookServer = {
    port,
    received,
    outgoing: createOutgoingClient({
      allow: rangesOf(['127.0.0.1', '127.0.0.2']),
      authorities: tls.authority,
      ports: [port],
      resolve: async (host) => {
        if (host.startsWith('unknown')) throw new Error('ENOTFOUND')
        if (host.startsWith('closed')) return ['127.0.0.2']
        return [host.startsWith('private') ? '10.0.0.1' : '127.0.0.1']
      },
      postMs: 1_000,
      stepMs: 1,
    }),
    answer: (reply) => void reply.end('ok'),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return running
}
