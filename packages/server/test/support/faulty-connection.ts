import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/**
 * What happens to a connection: `pass` it is carried; `refuse` it is ended before a byte; `cut-request` in the middle
 * of a request; `cut-answer` once the request is through, before a byte of the answer; `stall` nothing comes back;
 * a text is an answer of its own to every request, which the service never sees.
 */
export type Fault = 'pass' | 'refuse' | 'cut-request' | 'cut-answer' | 'stall' | { readonly answer: string }

/** The network between a client and a service: an address that stays while the service behind it changes. */
export async function startFaultyConnection(faultOf: () => Fault = () => 'pass') {
  const sockets = new Set<Socket>()
  const world = { port: 0, faultOf, seen: new Map<string, number>() }
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }
  const server = createServer((client) => {
    keep(client)
    const fault = world.faultOf()
    const name = typeof fault === 'string' ? fault : 'answer'
    world.seen.set(name, (world.seen.get(name) ?? 0) + 1)
    if (fault === 'refuse') return client.destroy()
    if (typeof fault === 'object') {
      client.once('data', () => client.end(fault.answer))
      return
    }
    if (fault === 'stall') return client.resume()
    const service = connect(world.port, '127.0.0.1')
    keep(service)
    const end = (): void => {
      client.destroy()
      service.destroy()
    }
    client.on('close', end)
    service.on('close', end)
    service.on('data', (chunk) => {
      if (fault === 'cut-answer') end()
      else client.write(chunk)
    })
    client.on('data', (chunk) => {
      if (fault !== 'cut-request') service.write(chunk)
      else service.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), end)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    /** Connections by what became of them. */
    seen: world.seen,
    /** From now on connections lead to this port of the machine. */
    leadTo(servicePort: number): void {
      world.port = servicePort
    },
    /** What becomes of new connections; those that are open are ended. */
    fail(next: () => Fault): void {
      world.faultOf = next
      for (const socket of sockets) socket.destroy()
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
