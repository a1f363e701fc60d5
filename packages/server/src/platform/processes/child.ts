/** What a supervised child is and what can be known about it; `supervisor.ts` runs it. */

type ChildLogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One line that a child wrote, as it goes to the service's own log. */
export interface ChildLogLine {
  readonly level: ChildLogLevel
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/** Sent one after the other until the child is gone; SIGKILL follows the last one by itself. */
export interface StopStep {
  readonly signal: NodeJS.Signals
  readonly waitMs: number
}

/** A child between its spawn and the moment it serves. */
interface StartingChild {
  readonly pid: number
  /** Aborts when the child has exited, took too long or is being stopped: whatever waits must end. */
  readonly signal: AbortSignal
  /** Resolves with the first line of either stream that matches, from the spawn on; rejects on abort. */
  line(pattern: RegExp): Promise<RegExpExecArray>
}

export interface ChildSpec {
  /** Lower case, stands in logs, metrics and health, as in `postgres`. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** The whole environment of the child. Nothing is inherited: ours may hold secrets that are not the child's. */
  readonly environment: Readonly<Record<string, string>>
  /** Working directory; `/` by default, so that no child keeps a file system busy. */
  readonly directory?: string
  /** Runs as this user; only root may set it. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** Open descriptors that the child gets as 3, 4, ...; asked for before every launch. */
  readonly descriptors?: () => readonly number[]
  /** Where pid and start time are kept, so that an orphan of an earlier run is recognised; its directory exists. */
  readonly pidFile: string
  /**
   * The child reads its standard input and exits when it ends: the pipe is held by this process and closes with
   * it, whatever kills it.
   */
  readonly lifeline?: boolean
  /**
   * Sent to the child by the kernel when this process dies. Works on Linux where `setpriv` of util-linux is
   * installed; elsewhere the orphan is stopped at the next start.
   */
  readonly parentDeathSignal?: NodeJS.Signals
  /**
   * From its first probe on, the child computes in what time this process and its others leave, where Linux has such a
   * class.
   * It stays in the session of this process, because a class counts inside a session alone, and must ignore the
   * signals that a terminal sends to all of it. Where it gets no time at all its probe fails, and its successor has
   * an ordinary share.
   */
  readonly yields?: boolean
  /** Runs before every launch, restarts included; a failure counts as a failed launch. */
  readonly prepare?: (signal: AbortSignal) => Promise<void>
  /** Resolves when the child serves; may poll, and must end when `child.signal` aborts. */
  readonly ready: (child: StartingChild) => Promise<void>
  readonly readyWithinMs: number
  /** Asked while the child serves; after several failures in a row it counts as hanging and is replaced. */
  readonly probe?: {
    readonly run: (signal: AbortSignal) => Promise<void>
    readonly everyMs: number
    /** The same after one that failed; `everyMs` by default. */
    readonly againMs?: number
    readonly withinMs: number
    readonly failures: number
  }
  readonly stop: readonly StopStep[]
  readonly backOff?: Partial<BackOff>
  /** How a line of the child's output is logged; undefined drops it. By default stdout is `info`, stderr `warn`. */
  readonly log?: (line: string, stream: 'stdout' | 'stderr') => ChildLogLine | undefined
}

/** Pauses between launches: the first restart waits `firstMs`, each further one twice as long, up to `maxMs`. */
export interface BackOff {
  readonly firstMs: number
  readonly maxMs: number
  /** A child that served this long starts again with the shortest pause. */
  readonly resetAfterMs: number
}

/** `backing-off`: gone, and waiting to be launched again. `stopped`: not started yet, or stopped on request. */
export type ChildState = 'stopped' | 'starting' | 'ready' | 'backing-off' | 'stopping'

export interface ChildStatus {
  readonly name: string
  readonly state: ChildState
  readonly pid: number | undefined
  /** Epoch milliseconds of the last change of `state`. */
  readonly since: number
  /** Launches after the first one. */
  readonly restarts: number
  /** Probes that failed in a row; 0 while it answers. */
  readonly failedProbes: number
  /** Why it is not ready, in plain words; undefined while it is. */
  readonly reason: string | undefined
}

export interface SupervisedChild {
  /**
   * Stops an orphan of an earlier run, launches the child and resolves when it serves; from then on it is
   * restarted until `stop`.
   * @throws {ChildFailed} the first launch failed: nothing runs, and `start` may be called again
   */
  start(): Promise<void>
  /** Resolves when the child is gone, for good; may be called at any time and more than once. */
  stop(): Promise<void>
  status(): ChildStatus
  /** Calls the listener after every change of the status; returns how to end that. */
  onChange(listener: (status: ChildStatus) => void): () => void
}

/** A child did not come up. `output` holds the last lines it wrote. */
export class ChildFailed extends Error {
  override readonly name = 'ChildFailed'
  readonly child: string
  readonly output: readonly string[]

  constructor(child: string, message: string, output: readonly string[], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.child = child
    this.output = output
  }
}
