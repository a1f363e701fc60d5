import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartRefused } from '../start-refused.ts'

/** How long a process that was killed may take to give its port back. */
const waitMs = 2_000
const pollMs = 50

interface Place {
  readonly host: string
  readonly port: number
}

function refused({ host, port }: Place, error: NodeJS.ErrnoException): StartRefused {
  const place = `Port ${port} of ${host}`
  const other = 'give this service another one with MILLRACE_PORT (0 takes a free one)'
  if (error.code === 'EADDRINUSE')
    return new StartRefused(
      'inUse',
      `${place} is in use by another program.\nStop that one, or ${other}.`,
      error,
    )
  if (error.code === 'EACCES')
    return new StartRefused('unsuitable', `${place} may not be opened by this user; ${other}.`, error)
  return new StartRefused(
    'unsuitable',
    `The service cannot listen on port ${port} of ${host}: ${error.message}.\nMILLRACE_HOST must be an address of this machine.`,
    error,
  )
}

async function tryToListen({ host, port }: Place): Promise<void> {
  const server = createServer()
  server.listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

/**
 * Makes sure that the service can listen, before anything is made: a first start that fails later has made an
 * installation whose password was never shown.
 * @throws StartRefused saying what to set
 */
export async function requireAddress(place: Place): Promise<void> {
  const end = performance.now() + waitMs
  for (;;) {
    try {
      return await tryToListen(place)
    } catch (error) {
      const fault = error as NodeJS.ErrnoException
      if (fault.code !== 'EADDRINUSE' || performance.now() >= end) throw refused(place, fault)
    }
    await sleep(pollMs)
  }
}
