import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { promisify } from 'node:util'

/**
 * Runs one of the senders in this folder with luajit and gives what it printed. It goes before the service where
 * the machine allows that: it stands for other machines, whose own waiting for a core is not part of a figure.
 */
export async function runSender<T>(script: string, argv: readonly (string | number)[]): Promise<T> {
  const path = new URL(script, import.meta.url).pathname
  const sending = promisify(execFile)('luajit', [path, ...argv.map(String)])
  try {
    setPriority(sending.child.pid ?? 0, -10)
  } catch {
    // Only a privileged user may.
  }
  return JSON.parse((await sending).stdout) as T
}
