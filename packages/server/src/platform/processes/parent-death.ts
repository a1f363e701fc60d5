import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const program = 'setpriv'
let installed: Promise<boolean> | undefined

/**
 * Whether util-linux's `setpriv` can bind a child to the life of this process. Debian has it in its base; busybox
 * has a program of this name without the option.
 */
function hasSetpriv(): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false)
  installed ??= promisify(execFile)(program, ['--pdeathsig', 'TERM', 'true']).then(
    () => true,
    () => false,
  )
  return installed
}

export interface BoundCommand {
  readonly command: string
  readonly args: string[]
}

/**
 * The command under which the kernel sends `signal` to the child when the thread that launched it ends, so that a
 * kill -9 of this process leaves nothing running. `setpriv` replaces itself with the command: the pid is the child's.
 */
export async function dyingWithParent(
  command: string,
  args: readonly string[],
  signal: NodeJS.Signals | undefined,
): Promise<BoundCommand> {
  if (signal === undefined || !(await hasSetpriv())) return { command, args: [...args] }
  return { command: program, args: ['--pdeathsig', signal.replace(/^SIG/, ''), command, ...args] }
}
