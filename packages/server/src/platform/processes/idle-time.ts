import { spawnSync } from 'node:child_process'

const program = 'chrt'
let works: boolean | undefined

/** Whether util-linux's `chrt` may put a process into Linux's idle class here; a sandbox can forbid it. */
function hasIdleClass(): boolean {
  works ??=
    process.platform === 'linux' &&
    spawnSync(program, ['--idle', '0', 'true'], { stdio: 'ignore' }).status === 0
  return works
}

/**
 * The command in the scheduler's idle class: it computes while nobody else in its group wants the core, and gives it
 * back at once, where a process of a low priority (nice) keeps it for up to 4 ms. `chrt` replaces itself with the
 * command: the pid is the child's.
 * @returns undefined where there is no such class
 */
export function inIdleTime(
  command: string,
  args: readonly string[],
): { command: string; args: string[] } | undefined {
  return hasIdleClass() ? { command: program, args: ['--idle', '0', command, ...args] } : undefined
}
