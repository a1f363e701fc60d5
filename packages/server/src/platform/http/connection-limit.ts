import type { Server } from 'node:http'
import type { Logger } from '../logger.ts'

/** Descriptors that files, stores and child processes of a busy service take; measured below 200. */
const reservedDescriptors = 1000

/**
 * Max open connections for the descriptors that the process may hold: without a limit, a flood of connections would
 * take those that the event log and the stores need.
 */
export function connectionsWithin(descriptors: number): number {
  return Math.max(Math.ceil(descriptors / 2), descriptors - reservedDescriptors)
}

/** Descriptors this process may hold; Node raises the soft limit to the hard one at its start. */
export function descriptorLimit(): number {
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report
  // Otherwise it looks up the names of all peers.
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files?: { soft?: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : 65_536
}

/** Between two lines of the log about connections that were turned away. */
const warnEveryMilliseconds = 60_000

/** Closes connections beyond the limit as they come, and logs it at most once a minute. */
export function limitConnections(server: Server, max: number, logger: Pick<Logger, 'warn'>): void {
  server.maxConnections = max
  let warnedAt = Number.NEGATIVE_INFINITY
  let dropped = 0
  server.on('drop', () => {
    dropped++
    if (performance.now() - warnedAt < warnEveryMilliseconds) return
    warnedAt = performance.now()
    logger.warn({ max, dropped }, 'too many connections are open: new ones are closed as they come')
  })
}
