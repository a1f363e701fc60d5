import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the server is closing: replies then carry `Connection: close`. */
    isClosing(): boolean
  }
}

/** Between two looks at connections that have become idle. */
const lookEveryMilliseconds = 50

/**
 * Makes `close` end within its grace: Node waits for every connection that is open, also for one that has said
 * nothing yet or that a client keeps for later, and no longer looks at its own time limits.
 */
export function closeInTime(app: FastifyInstance, graceMilliseconds: number): void {
  let closing = false
  app.decorate('isClosing', () => closing)

  /** Connections on which no request has begun. */
  const silent = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', (request) => silent.delete(request.socket))

  app.addHook('preClose', (done) => {
    closing = true
    if (app.server.listening) {
      const look = setInterval(() => {
        for (const socket of silent) socket.destroy()
        app.server.closeIdleConnections()
      }, lookEveryMilliseconds)
      const late = setTimeout(() => app.server.closeAllConnections(), graceMilliseconds)
      app.server.once('close', () => {
        clearInterval(look)
        clearTimeout(late)
      })
    }
    done()
  })
}
