import { type ChildProcess, spawn } from 'node:child_process'
import type { Logger } from '../logger.ts'
import { ChildFailed, type ChildLogLine, type ChildSpec } from './child.ts'
import type { ProcessIdentity } from './identity.ts'
import { createOutputLines, type OutputLines } from './output-lines.ts'
import type { BoundCommand } from './parent-death.ts'
import { removePidFile, writePidFile } from './pid-file.ts'
import { terminate } from './termination.ts'

/** One life of a child. */
export interface LaunchedChild {
  readonly process: ChildProcess
  /** Undefined for a child that was gone before it could be looked at. */
  readonly identity: ProcessIdentity | undefined
  readonly output: OutputLines
  /** Resolves with plain words about how it ended; never rejects. */
  readonly ended: Promise<string>
  hasEnded(): boolean
}

const lastWordsMs = 250

const defaultLog: NonNullable<ChildSpec['log']> = (message, stream) => ({
  level: stream === 'stdout' ? 'info' : 'warn',
  message,
})

function endingOf(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `was ended by ${signal}`
  return `exited with code ${code}`
}

/**
 * Spawns the child.
 * @param bound its command, bound to the life of this process where the description asks for that
 * @param session `own`, so that Ctrl-C in a terminal reaches us and not it: it is stopped last
 */
export function launch(
  spec: ChildSpec,
  { command, args }: BoundCommand,
  logger: Logger,
  session: 'own' | 'ours',
): LaunchedChild {
  const output = createOutputLines()
  const child = spawn(command, args, {
    cwd: spec.directory ?? '/',
    env: { ...spec.environment },
    detached: session === 'own',
    stdio: [spec.lifeline ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(spec.descriptors?.() ?? [])],
    ...(spec.user ?? {}),
  })
  // The child decides when it stops reading; that is seen as its exit.
  child.stdin?.on('error', () => {})
  let ended = false
  const ending = new Promise<string>((resolve) => {
    const finish = (how: string): void => {
      ended = true
      // What it wrote last says why it ended. Its pipes close with it, unless it leaves children that hold them.
      const timer = setTimeout(() => resolve(how), lastWordsMs)
      child.once('close', () => {
        clearTimeout(timer)
        resolve(how)
      })
    }
    child.on('error', (error) => {
      if (child.pid === undefined) finish(`cannot be started: ${error.message}`)
    })
    child.once('exit', (code, signal) => finish(endingOf(code, signal)))
  })
  const record = (line: ChildLogLine | undefined): void => {
    if (line !== undefined) logger[line.level](line.fields ?? {}, line.message)
  }
  const log = spec.log ?? defaultLog
  if (child.stdout) output.attach(child.stdout, (line) => record(log(line, 'stdout')))
  if (child.stderr) output.attach(child.stderr, (line) => record(log(line, 'stderr')))
  const identity = child.pid === undefined ? undefined : writePidFile(spec.pidFile, child.pid)
  return { process: child, identity, output, ended: ending, hasEnded: () => ended }
}

/** Ends a launched child by the steps of its description and forgets its pid. */
export async function endLaunched(spec: ChildSpec, child: LaunchedChild): Promise<void> {
  if (child.identity !== undefined && !child.hasEnded()) {
    // Standard input ends first: a child that watches it needs no signal.
    child.process.stdin?.end()
    await terminate(child.identity, spec.stop, child.hasEnded)
  }
  await child.ended
  removePidFile(spec.pidFile)
}

/**
 * Waits until the child serves.
 * @param stopping aborts the wait
 * @throws {ChildFailed} it exited, took too long or was stopped; it still has to be ended
 */
export async function untilReady(
  spec: ChildSpec,
  child: LaunchedChild,
  stopping: AbortSignal,
): Promise<void> {
  const waiting = new AbortController()
  const timer = setTimeout(
    () => waiting.abort(new Error(`is not ready after ${spec.readyWithinMs / 1000} s`)),
    spec.readyWithinMs,
  )
  const onStop = (): void => waiting.abort(new Error('is being stopped'))
  stopping.addEventListener('abort', onStop)
  if (stopping.aborted) onStop()
  void child.ended.then((how) => waiting.abort(new Error(how)))
  const { signal } = waiting
  const aborted = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  aborted.catch(() => {})
  const line = (pattern: RegExp): Promise<RegExpExecArray> => {
    let unlisten = (): void => {}
    const found = new Promise<RegExpExecArray>((resolve) => {
      unlisten = child.output.listen((text) => {
        const match = pattern.exec(text)
        if (match) resolve(match)
      })
    })
    return Promise.race([found, aborted]).finally(unlisten)
  }
  try {
    const pid = child.process.pid
    if (pid === undefined) await aborted
    else await Promise.race([spec.ready({ pid, signal, line }), aborted])
  } catch (error) {
    const output = child.output.recent()
    const last = output.length === 0 ? '' : `; its last lines:\n${output.slice(-12).join('\n')}`
    throw new ChildFailed(spec.name, `${spec.name} ${(error as Error).message}${last}`, output, error)
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', onStop)
    // Ends whatever of `ready` is still polling.
    waiting.abort(new Error('is ready'))
  }
}
