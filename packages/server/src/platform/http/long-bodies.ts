import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Connections whose present request brings a file. */
const connections = new WeakSet<Socket>()

/**
 * Lets the body of this request take as long as bytes come: the server's time for a whole request is meant for bodies
 * that are held in memory. A silence ends it all the same.
 */
export function allowLongBody(request: IncomingMessage): void {
  const { socket } = request
  connections.add(socket)
  request.once('close', () => connections.delete(socket))
}

/** Whether the time of a request on this connection is not counted. */
export const bringsLongBody = (socket: Socket): boolean => connections.has(socket)
