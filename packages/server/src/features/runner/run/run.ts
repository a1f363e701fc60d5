import type { DataNode, Executable, RunEnvironment, RunView } from '../compile/executable.ts'
import { failed } from '../compile/values.ts'
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
  readonly budgetMs: number
  readonly trace?: (step: TracedStep) => void
}

/** The time that a run had for its data is used up. */
class TimeUsedUp extends Error {
  constructor(budgetMs: number) {
    super(`the data were not there within ${budgetMs} ms`)
  }
}

/** How often the time is asserted before the clock is asked: each stands for a millisecond of work at most. */
const assertionsPerLook = 32

/** The time is used up that a run may compute for, in which the process answers no other request. */
class ComputingUsedUp extends Error {
  constructor(budgetMs: number) {
    super(`the run has computed for ${budgetMs} ms`)
  }
}

/** Of a data node within a run. */
const unasked = 0
const pending = 1
const settled = 2

/** One run: the values of its data nodes, each computed once, when it is first needed. */
export class Run implements RunView {
  readonly request: RunRequest
  readonly environment: RunEnvironment
  readonly faults: RunFault[] = []
  readonly #options: RunOptions
  readonly #started = performance.now()
  readonly #values: unknown[]
  readonly #states: Uint8Array
  readonly #reached: Uint8Array
  readonly #pending: (Promise<void> | undefined)[] = []
  /** When each pending node was asked, in milliseconds of the run. */
  readonly #began: number[] = []
  #controller: AbortController | undefined
  #isLate = false
  #computed = 0
  #asserted = 0
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
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isLate) this.#controller.abort(new TimeUsedUp(this.#options.budgetMs))
    return this.#controller.signal
  }

  get isLate(): boolean {
    return this.#isLate
  }

  get milliseconds(): number {
    return performance.now() - this.#started
  }

  /** Counts the time that work takes which does not wait. */
  computing<T>(work: () => T): T {
    const since = performance.now()
    this.#computesSince = since
    try {
      return work()
    } finally {
      this.#computed += performance.now() - since
      this.#computesSince = undefined
    }
  }

  readonly assertTime = (): void => {
    if (!this.#isExhausted && ++this.#asserted % assertionsPerLook !== 0) return
    const { budgetMs } = this.#options
    const present = this.#computesSince === undefined ? 0 : performance.now() - this.#computesSince
    this.#isExhausted = this.#computed + present > budgetMs
    if (this.#isExhausted) throw new ComputingUsedUp(budgetMs)
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

  /** Data nodes on the way that nothing asked for. */
  unasked(): DataNode[] {
    return this.#options.executable.data.filter(
      ({ number }) => this.#reached[number] === 1 && this.#states[number] === unasked,
    )
  }

  /** Sees to it that these have their values; undefined where nothing is to be waited for. */
  settle(needs: readonly number[]): Promise<unknown> | undefined {
    let waits: Promise<void>[] | undefined
    for (const need of needs) {
      const wait = this.#settleOne(need)
      if (wait === undefined) continue
      waits ??= []
      waits.push(wait)
    }
    return waits && (waits.length === 1 ? waits[0] : Promise.all(waits))
  }

  #settleOne(number: number): Promise<void> | undefined {
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
    const needs = this.settle(node.needs)
    const wait =
      needs === undefined
        ? this.#compute(node)
        : needs.then(() => (this.#states[number] === settled ? undefined : this.#compute(node)))
    this.#pending[number] = wait
    return wait
  }

  /** Never rejects. */
  #compute(node: DataNode): Promise<void> | undefined {
    const began = this.stepBegins
    this.#began[node.number] = began
    try {
      const value = node.type === 'transform' ? this.computing(() => node.compute(this)) : node.compute(this)
      if (!(value instanceof Promise)) {
        this.#end(node, value, began)
        return undefined
      }
      if (this.#isLate) {
        // What is kept was there at once; what is read now serves the next run.
        value.catch(() => {})
        this.#fail(node, new TimeUsedUp(this.#options.budgetMs), began)
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
    if (fault) this.faults.push(fault)
    this.#options.trace?.({
      node: node.node,
      type: node.type,
      name: node.name,
      skipped: false,
      input: inputOf(node, this),
      output: value === failed ? null : value,
      milliseconds: this.milliseconds - began,
      fault: fault && messageOf(fault.error),
    })
  }

  #fail(node: DataNode, error: unknown, began: number): void {
    this.#end(node, failed, began, { node: node.node, error })
  }

  /** Waits until it has ended or the time is used up. */
  async within<T>(wait: Promise<T>): Promise<T | undefined> {
    const left = this.#options.budgetMs - this.milliseconds
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
    const error = new TimeUsedUp(this.#options.budgetMs)
    this.#controller?.abort(error)
    for (const node of this.#options.executable.data) {
      const { number } = node
      if (this.#states[number] === pending) this.#fail(node, error, this.#began[number] ?? this.milliseconds)
    }
  }

  /** Becomes late where the time was used up without waiting. */
  checkTime(): void {
    if (!this.#isLate && this.milliseconds > this.#options.budgetMs) this.#becomeLate()
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
