import type { Logger } from '../logger.ts'
import { StartRefused } from '../start-refused.ts'
import type { ChildSpec } from './child.ts'
import { isAlive, isRunning } from './identity.ts'
import { readPidFile, removePidFile } from './pid-file.ts'
import { terminate } from './termination.ts'

/**
 * Stops the child of an earlier run that was killed before it could do so itself. The pid alone proves nothing, so
 * only a process with the recorded start time is touched.
 * @throws {StartRefused} the child belongs to a process that still runs
 */
export async function stopOrphan(spec: ChildSpec, logger: Logger): Promise<void> {
  const record = readPidFile(spec.pidFile)
  if (record !== undefined && isAlive(record.child)) {
    if (record.supervisor.pid !== process.pid && isRunning(record.supervisor)) {
      throw new StartRefused(
        'inUse',
        `${spec.name} (process ${record.child.pid}) is in use by process ${record.supervisor.pid}; stop that one first`,
      )
    }
    logger.warn({ pid: record.child.pid }, `stopping ${spec.name} of an earlier run that was killed`)
    const last = await terminate(record.child, spec.stop)
    logger.info({ pid: record.child.pid, signal: last }, `${spec.name} of the earlier run is gone`)
  }
  removePidFile(spec.pidFile)
}
