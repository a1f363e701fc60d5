import { type Clock, systemClock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import {
  type BackOff,
  ChildFailed,
  type ChildSpec,
  type ChildState,
  type ChildStatus,
  type SupervisedChild,
} from './child.ts'
import { createStarvationWatch, enterIdleTime } from './idle-time.ts'
import { endLaunched, type LaunchedChild, launch, untilReady } from './launch.ts'
import { stopOrphan } from './orphan.ts'
import { dyingWithParent } from './parent-death.ts'
import { watchProbe } from './probe.ts'
import { signalProcess } from './termination.ts'

const defaultBackOff: BackOff = { firstMs: 100, maxMs: 15_000, resetAfterMs: 60_000 }

/** Resolves after the time or as soon as the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}

/**
 * Keeps one child process running: starts it, waits until it serves, replaces it when it exits or hangs, and ends
 * it on request (ARCHITECTURE.md, Stores and processes).
 */
export function superviseChild(
  spec: ChildSpec,
  dependencies: { logger: Logger; clock?: Clock; random?: () => number },
): SupervisedChild {
  const { clock = systemClock, random = Math.random } = dependencies
  const logger = dependencies.logger.child({ child: spec.name })
  const backOff = { ...defaultBackOff, ...spec.backOff }
  const listeners = new Set<(status: ChildStatus) => void>()
  const stopping = new AbortController()
  let status: ChildStatus = {
    name: spec.name,
    state: 'stopped',
    pid: undefined,
    since: clock.now(),
    restarts: 0,
    failedProbes: 0,
    reason: 'has not been started',
  }
  let yields = spec.yields === true
  let current: LaunchedChild | undefined
  let starting: Promise<LaunchedChild> | undefined
  let watching: Promise<void> | undefined
  let stopped: Promise<void> | undefined

  function update(change: Partial<ChildStatus>): void {
    const since = change.state !== undefined && change.state !== status.state ? clock.now() : status.since
    status = { ...status, ...change, since }
    for (const listener of listeners) listener(status)
  }

  const enter = (state: ChildState, reason: string | undefined): void => update({ state, reason })

  /** `process.exit` and an uncaught error leave no time for more than a signal. */
  const onExit = (): void => {
    const first = spec.stop[0]?.signal ?? 'SIGKILL'
    if (current?.identity !== undefined && !current.hasEnded()) signalProcess(current.identity, first)
  }

  async function bringUp(): Promise<LaunchedChild> {
    const failed = (error: unknown): ChildFailed =>
      new ChildFailed(spec.name, `${spec.name} cannot be started: ${(error as Error).message}`, [], error)
    await spec.prepare?.(stopping.signal)
    const bound = await dyingWithParent(spec.command, spec.args, spec.parentDeathSignal)
    if (stopping.signal.aborted) throw failed(new Error('it is being stopped'))
    let child: LaunchedChild
    try {
      child = launch(spec, bound, logger, yields ? 'ours' : 'own')
    } catch (error) {
      // What spawn refuses at once: a command that is no text, a user that may not be taken.
      throw failed(error)
    }
    current = child
    update({ pid: child.process.pid })
    try {
      await untilReady(spec, child, stopping.signal)
    } catch (error) {
      await endLaunched(spec, child)
      current = undefined
      update({ pid: undefined })
      throw error
    }
    enter('ready', undefined)
    logger.info({ pid: child.process.pid }, `${spec.name} is ready`)
    return child
  }

  /**
   * The probe of the description. With the first one a child that yields begins to; from then on it fails as well
   * while others leave it no time.
   */
  function probeOf(child: LaunchedChild): ChildSpec['probe'] {
    const { probe } = spec
    const { pid } = child.process
    if (probe === undefined || pid === undefined || !yields) return probe
    const starves = createStarvationWatch()
    let entered: Promise<void> | undefined
    async function yieldTime(): Promise<void> {
      // One that has ended meanwhile says nothing about its successor.
      yields = (await enterIdleTime(child.process.pid ?? 0)) || child.hasEnded()
      logger.info({ pid, inIdleTime: yields }, `${spec.name} yields to others`)
    }
    return {
      ...probe,
      async run(signal) {
        // Not before: those who wait for it at a start wait for what it does then.
        entered ??= yieldTime()
        await entered
        if (yields && starves(pid)) throw new Error('other programs take all cores and leave it no time')
        await probe.run(signal)
      },
    }
  }

  /** Resolves once the child has ended, for whatever reason. */
  async function serve(child: LaunchedChild): Promise<string> {
    let hung: string | undefined
    const unwatch = watchProbe(probeOf(child), {
      onResult: (failedProbes, error) => {
        if (failedProbes === status.failedProbes) return
        update({ failedProbes })
        if (error) logger.warn({ err: error, failedProbes }, `${spec.name} does not answer its probe`)
      },
      onHung: () => {
        hung = 'stopped answering'
        yields = false
        enter('backing-off', hung)
        logger.error({ pid: child.process.pid }, `${spec.name} hangs and is replaced`)
        void endLaunched(spec, child).catch((error) => logger.error({ err: error }, 'it cannot be ended'))
      },
    })
    const how = await child.ended
    unwatch()
    return hung ?? how
  }

  /** Restarts for ever: events keep being accepted while a store is away, and it may come back by itself. */
  async function keepRunning(first: LaunchedChild): Promise<void> {
    let child = first
    let failures = 0
    for (;;) {
      const readySince = performance.now()
      let reason = await serve(child)
      current = undefined
      if (stopping.signal.aborted) return
      if (performance.now() - readySince >= backOff.resetAfterMs) failures = 0
      logger.error({ pid: child.process.pid }, `${spec.name} ${reason}`)
      update({ state: 'backing-off', reason, pid: undefined, failedProbes: 0 })
      for (;;) {
        const longest = Math.min(backOff.maxMs, backOff.firstMs * 2 ** failures)
        failures = Math.min(failures + 1, 30)
        await pause(longest * (0.8 + 0.2 * random()), stopping.signal)
        if (stopping.signal.aborted) return
        update({ state: 'starting', restarts: status.restarts + 1 })
        try {
          child = await bringUp()
          break
        } catch (error) {
          if (stopping.signal.aborted) return
          reason = (error as Error).message
          logger.error({ err: error }, `${spec.name} does not start again`)
          enter('backing-off', reason)
        }
      }
    }
  }

  async function begin(): Promise<LaunchedChild> {
    enter('starting', 'is starting')
    process.once('exit', onExit)
    await stopOrphan(spec, logger)
    return await bringUp()
  }

  async function end(): Promise<void> {
    enter('stopping', 'is being stopped')
    stopping.abort()
    try {
      // A launch that is under way ends its child itself.
      await starting?.catch(() => {})
      if (current) await endLaunched(spec, current)
      await watching
    } finally {
      process.off('exit', onExit)
      update({ state: 'stopped', reason: 'was stopped', pid: undefined, failedProbes: 0 })
      logger.info(`${spec.name} is stopped`)
    }
  }

  return {
    async start() {
      if (stopped) throw new Error(`${spec.name} was stopped and does not start again`)
      if (starting) throw new Error(`${spec.name} was started before`)
      starting = begin()
      try {
        const child = await starting
        watching = keepRunning(child)
      } catch (error) {
        process.off('exit', onExit)
        if (!stopped) {
          starting = undefined
          enter('stopped', (error as Error).message)
        }
        throw error
      }
    },
    stop() {
      stopped ??= starting === undefined ? Promise.resolve() : end()
      return stopped
    },
    status: () => status,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
