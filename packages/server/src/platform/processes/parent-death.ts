import { spawnSync } from 'node:child_process'

const program = 'setpriv'
let installed: boolean | undefined

/**
 * Whether util-linux's `setpriv` can bind a child to the life of this process. Debian has it in its base; busybox
 * has a program of this name without the option.
 */
function hasSetpriv(): boolean {
  installed ??=
    process.platform === 'linux' &&
    spawnSync(program, ['--pdeathsig', 'TERM', 'true'], { stdio: 'ignore' }).status === 0
  return installed
}

/**
 * The command under which the kernel sends `signal` to the child when the thread that launched it ends, so that a
 * kill -9 of this process leaves nothing running. `setpriv` replaces itself with the command: the pid is the child's.
 */
export function dyingWithParent(
  command: string,
  args: readonly string[],
  signal: NodeJS.Signals | undefined,
): { command: string; args: string[] } {
  if (signal === undefined || !hasSetpriv()) return { command, args: [...args] }
  return { command: program, args: ['--pdeathsig', signal.replace(/^SIG/, ''), command, ...args] }
}
