import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { StartRefused } from '../../start-refused.ts'

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, with a zero at its end. */
const maxPathLength = 103

const name = 'http'

/**
 * Where the engine's socket lies: beside the other small files of running processes where that path is short
 * enough, else in a directory below /tmp that the path decides.
 * @param runPath absolute
 */
export function engineSocketPath(runPath: string): string {
  const near = join(runPath, 'columnar')
  if (Buffer.byteLength(join(near, name)) <= maxPathLength) return join(near, name)
  const digest = createHash('sha256').update(near).digest('hex').slice(0, 24)
  return join('/tmp', `millrace-${digest}`, name)
}

/**
 * Makes the socket's directory for this account alone: any process that can enter it may query the engine.
 * @throws {StartRefused} another user made it first
 */
export function makeEngineDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const found = lstatSync(path)
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) {
    throw new StartRefused(
      'unsuitable',
      `${path}, where the columnar engine's socket goes, is not a directory of ours.\n` +
        'Look at who made it, and remove it.',
    )
  }
  chmodSync(path, 0o700)
}
