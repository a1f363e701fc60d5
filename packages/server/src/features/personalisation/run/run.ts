import type { DataNode, Executable, RunEnvironment, RunView } from '../compile/executable.ts'
import { failed } from '../compile/values.ts'
import { stepsPerMs } from './computing-limits.ts'
import type { RunRequest } from './run-request.ts'

/** A node that had no value, or a run that did not end well. */
export interface RunFault {
  /** Undefined for the run itself. */
  readonly node: string | undefined
  readonly error: unknown
}

/** One node that ran, for previews. */
export interface TracedStep {
  readonly node: string
  readonly type: string
  readonly name: string | undefined
  readonly skipped: boolean
  readonly input: unknown
  readonly output: unknown
  readonly milliseconds: number
  readonly fault: string | undefined
}

export interface RunOptions {
  readonly executable: Executable
  readonly request: RunRequest
  readonly environment: RunEnvironment
  /** How long it may wait for data. */
  readonly timeLimitMs: number
  readonly trace?: (step: TracedStep) => void
}

/** The time that a run had for its data is used up. */
class TimeUsedUp extends Error {
  constructor(timeLimitMs: number) {
    super(`the data were not there within ${timeLimitMs} ms`)
  }
}

/** Of a data node within a run; 0 while nothing has asked for it. */
const pending = 1
const settled = 2

/** How a data node came to its value, or to none. */
interface Ending {
  readonly milliseconds: number
  readonly fault: RunFault | undefined
}

/**
 * One run: the values of its data nodes, each computed once, when it is first asked for. Nodes can be asked for before it
 * is known whether they are needed; only those that are used leave faults and traces.
 */
export class Run implements RunView {
  readonly request: RunRequest
  readonly environment: RunEnvironment
  readonly faults: RunFault[] = []
  readonly #options: RunOptions
  readonly #started = performance.now()
  readonly #values: unknown[]
  readonly #states: Uint8Array
  readonly #reached: Uint8Array
  readonly #used: Uint8Array
  readonly #pending: (Promise<void> | undefined)[] = []
  /** When each pending node was asked, in milliseconds of the run. */
  readonly #began: number[] = []
  /** Of settled nodes, where a fault or a trace is to be reported once they are used. */
  readonly #endings: (Ending | undefined)[] = []
  #controller: AbortController | undefined
  #isLate = false
  #computed = 0
  /** Steps since the clock was asked: it is a good part of what most of them cost. */
  #unlooked = 0
  #isExhausted = false
  #computesSince: number | undefined

  constructor(options: RunOptions) {
    this.#options = options
    this.request = options.request
    this.environment = options.environment
    const { length } = options.executable.data
    this.#values = new Array<unknown>(length).fill(undefined)
    this.#states = new Uint8Array(length)
    this.#reached = new Uint8Array(length)
    this.#used = new Uint8Array(length)
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isLate) this.#controller.abort(new TimeUsedUp(this.#options.timeLimitMs))
    return this.#controller.signal
  }

  get isLate(): boolean {
    return this.#isLate
  }

  get milliseconds(): number {
    return performance.now() - this.#started
  }

  computing<T>(work: () => T): T {
    if (this.#computesSince !== undefined) return work()
    const [since, before] = [performance.now(), this.#computed]
    this.#computesSince = since
    try {
      return work()
    } finally {
      this.#computesSince = undefined
      this.#computed += performance.now() - since
      this.environment.computing.count(this.environment.companyId, before, this.#computed)
    }
  }

  readonly assertTime = (steps = 1): void => {
    this.#unlooked += steps
    if (!this.#isExhausted && this.#unlooked < stepsPerMs) return
    this.#unlooked = 0
    const present = this.#computesSince === undefined ? 0 : performance.now() - this.#computesSince
    this.#isExhausted = true
    this.environment.computing.assert(
      this.environment.companyId,
      this.#computed + present + steps / stepsPerMs,
    )
    this.#isExhausted = false
  }

  /** When a step begins, which only traces ask for: clocks are a good part of what a step costs. */
  get stepBegins(): number {
    return this.#options.trace ? this.milliseconds : 0
  }

  valueOf(data: number): unknown {
    return this.#states[data] === settled ? this.#values[data] : failed
  }

  reach(data: DataNode): void {
    this.#reached[data.number] = 1
  }

  /** Data nodes on the way whose value nothing used. */
  unused(): DataNode[] {
    return this.#options.executable.data.filter(
      ({ number }) => this.#reached[number] === 1 && this.#used[number] === 0,
    )
  }

  isUsed(data: number): boolean {
    return this.#used[data] === 1
  }

  /** Asks for these without waiting for them. */
  ask(needs: readonly number[]): void {
    for (const need of needs) this.#askOne(need)
  }

  use(needs: readonly number[]): Promise<void> | undefined {
    let waits: Promise<void>[] | undefined
    for (const need of needs) {
      const wait = this.#askOne(need)
      this.#useOne(need)
      if (wait === undefined) continue
      waits ??= []
      waits.push(wait)
    }
    return waits && this.#untilThere(waits)
  }

  async #untilThere(waits: readonly Promise<void>[]): Promise<void> {
    await this.within(Promise.all(waits))
  }

  /** With what its value is made of. */
  #useOne(number: number): void {
    if (this.#used[number] === 1) return
    this.#used[number] = 1
    const node = this.#options.executable.data[number]
    if (node === undefined) return
    for (const need of node.needs) this.#useOne(need)
    this.#report(node)
  }

  #askOne(number: number): Promise<void> | undefined {
    if (this.#states[number] === settled) return undefined
    if (this.#states[number] === pending) return this.#pending[number]
    const node = this.#options.executable.data[number]
    if (node === undefined) return undefined
    if (this.#reached[number] !== 1) {
      this.#fail(node, new Error('it does not lie on the way'), this.stepBegins)
      return undefined
    }
    // Marked before its own needs are asked for: nodes of a draft may need each other.
    this.#states[number] = pending
    let waits: Promise<void>[] | undefined
    for (const need of node.needs) {
      const wait = this.#askOne(need)
      if (wait === undefined) continue
      waits ??= []
      waits.push(wait)
    }
    const wait =
      waits === undefined
        ? this.#compute(node)
        : Promise.all(waits).then(() => (this.#states[number] === settled ? undefined : this.#compute(node)))
    this.#pending[number] = wait
    return wait
  }

  /** Never rejects. */
  #compute(node: DataNode): Promise<void> | undefined {
    const began = this.stepBegins
    this.#began[node.number] = began
    try {
      const value = node.compute(this)
      if (!(value instanceof Promise)) {
        this.#end(node, value, began)
        return undefined
      }
      if (this.#isLate) {
        // What is kept was there at once; what is read now serves the next run.
        value.catch(() => {})
        this.#fail(node, new TimeUsedUp(this.#options.timeLimitMs), began)
        return undefined
      }
      return value.then(
        (awaited) => this.#end(node, awaited, began),
        (error: unknown) => this.#fail(node, error, began),
      )
    } catch (error) {
      this.#fail(node, error, began)
      return undefined
    }
  }

  #end(node: DataNode, value: unknown, began: number, fault?: RunFault): void {
    const { number } = node
    if (this.#states[number] === settled) return
    this.#states[number] = settled
    this.#values[number] = value
    if (fault === undefined && this.#options.trace === undefined) return
    this.#endings[number] = { milliseconds: this.milliseconds - began, fault }
    this.#report(node)
  }

  /** Reports a node once it is both settled and used. */
  #report(node: DataNode): void {
    const { number } = node
    const ending = this.#endings[number]
    if (ending === undefined || this.#used[number] === 0) return
    const { fault, milliseconds } = ending
    const value = this.#values[number]
    if (fault) this.faults.push(fault)
    this.#options.trace?.({
      node: node.node,
      type: node.type,
      name: node.name,
      skipped: false,
      input: inputOf(node, this),
      output: value === failed ? null : value,
      milliseconds,
      fault: fault && messageOf(fault.error),
    })
  }

  #fail(node: DataNode, error: unknown, began: number): void {
    this.#end(node, failed, began, { node: node.node, error })
  }

  async within<T>(wait: Promise<T>): Promise<T | undefined> {
    const left = this.#options.timeLimitMs - this.milliseconds
    if (left <= 0) {
      this.#becomeLate()
      wait.catch(() => {})
      return undefined
    }
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        this.#becomeLate()
        resolve(undefined)
      }, left)
    })
    try {
      return await Promise.race([wait, over])
    } finally {
      clearTimeout(timer)
      wait.catch(() => {})
    }
  }

  /** From now on nothing is waited for: what has not ended has no value. */
  #becomeLate(): void {
    if (this.#isLate) return
    this.#isLate = true
    const error = new TimeUsedUp(this.#options.timeLimitMs)
    this.#controller?.abort(error)
    for (const node of this.#options.executable.data) {
      const { number } = node
      if (this.#states[number] === pending) this.#fail(node, error, this.#began[number] ?? this.milliseconds)
    }
  }

  /** What was asked for and is not used is left to other runs: nothing of it is reported from now on. */
  end(): void {
    if (!this.#states.includes(pending)) return
    for (const [number, state] of this.#states.entries()) {
      if (state === pending) this.#states[number] = settled
    }
    this.#controller?.abort(new Error('the run has ended'))
  }

  /** Becomes late where the time was used up without waiting. */
  checkTime(): void {
    if (!this.#isLate && this.milliseconds > this.#options.timeLimitMs) this.#becomeLate()
  }
}

export function inputOf(node: Pick<DataNode, 'inputOf'>, run: Run): unknown {
  try {
    return node.inputOf(run)
  } catch {
    return null
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
