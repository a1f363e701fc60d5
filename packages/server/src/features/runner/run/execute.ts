import type { ReturnCode } from '@millrace/contract/resources/workflow-preview.ts'
import {
  type BranchTree,
  type CompiledBranch,
  type CompiledEntrypoint,
  type Content,
  type DataNode,
  type Executable,
  type LogicStep,
  type OutputStep,
  type RunEnvironment,
  type RunView,
  type Step,
  stepKey,
} from '../compile/executable.ts'
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

export interface Outcome {
  /** Undefined where the run ended before an output: the reply is the default of the entrypoint's channel. */
  readonly content: Content | undefined
  readonly output: OutputStep | undefined
  /** Where a click leads. */
  readonly destination: string | undefined
  /** Undefined where the run ended before an output. */
  readonly branch: CompiledBranch | undefined
  readonly returnCode: Extract<ReturnCode, '' | '3501' | '3502'>
  readonly milliseconds: number
  readonly faults: readonly RunFault[]
}

export interface ExecuteOptions {
  readonly executable: Executable
  readonly entrypoint: CompiledEntrypoint
  readonly request: RunRequest
  readonly environment: RunEnvironment
  /** How long it may wait for data. */
  readonly budgetMs: number
  /** Of the content that is shown. */
  readonly clickAddress: () => string
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

/** The time is used up that a run may compute for, in which the process answers nobody else. */
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
class Run implements RunView {
  readonly request: RunRequest
  readonly environment: RunEnvironment
  readonly faults: RunFault[] = []
  readonly #options: ExecuteOptions
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

  constructor(options: ExecuteOptions) {
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

function inputOf(node: Pick<DataNode, 'inputOf'>, run: Run): unknown {
  try {
    return node.inputOf(run)
  } catch {
    return null
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Way {
  readonly output: OutputStep | undefined
  readonly tree: BranchTree | undefined
}

/** Takes the output of a logic node; where it fails, that which `default` stands for. */
async function takeOutput(step: LogicStep, run: Run, trace: ExecuteOptions['trace']): Promise<number> {
  const began = run.milliseconds
  const wait = run.settle(step.needs)
  if (wait !== undefined) await run.within(wait)
  let number = step.fallback
  let fault: RunFault | undefined
  try {
    if (run.isLate && step.type === 'cohort') throw new Error('no time is left to ask')
    const chosen = step.type === 'conditions' ? run.computing(() => step.choose(run)) : step.choose(run)
    const taken = typeof chosen === 'number' ? chosen : await run.within(chosen)
    if (taken === undefined) throw new Error('no answer came in time')
    if (taken < 0) throw new Error('the node has no such output')
    number = taken
  } catch (error) {
    fault = { node: step.node, error }
    run.faults.push(fault)
  }
  trace?.({
    ...step,
    skipped: false,
    input: inputOf(step, run),
    output: step.outputs[number] ?? null,
    milliseconds: run.milliseconds - began,
    fault: fault && messageOf(fault.error),
  })
  return number
}

/** Follows the graph from an entrypoint to an output. */
async function walk({ executable, entrypoint, trace }: ExecuteOptions, run: Run): Promise<Way> {
  let step: Step | undefined = entrypoint.first
  let tree: BranchTree | undefined = executable.branches
  for (let taken = 0; step !== undefined && taken <= executable.places; taken++) {
    switch (step.kind) {
      case 'data':
        run.reach(step.data)
        tree = tree?.next.get(stepKey(step.place, -1))
        step = step.next
        break
      case 'logic': {
        run.checkTime()
        const taken = takeOutput(step, run, trace)
        const number = typeof taken === 'number' ? taken : await taken
        tree = tree?.next.get(stepKey(step.place, number))
        step = step.next[number]
        break
      }
      case 'output':
        return { output: step, tree: tree?.next.get(stepKey(step.place, -1)) }
    }
  }
  return { output: undefined, tree: undefined }
}

/**
 * Runs an executable from an entrypoint to an output and renders it. A node that fails has no value, which no
 * condition matches; once the time is used up, what has not answered counts as failed and the run ends without waiting.
 * Never rejects.
 */
export async function execute(options: ExecuteOptions): Promise<Outcome> {
  const { trace, clickAddress } = options
  const run = new Run(options)
  const ended = (parts: Partial<Outcome>): Outcome => ({
    content: undefined,
    output: undefined,
    destination: undefined,
    branch: undefined,
    returnCode: '3501',
    milliseconds: run.milliseconds,
    faults: run.faults,
    ...parts,
  })
  let output: OutputStep | undefined
  let branch: CompiledBranch | undefined
  try {
    const way = await walk(options, run)
    output = way.output
    branch = way.tree?.branch
    if (output === undefined) throw new Error('the way leads to no output')
    const began = run.stepBegins
    run.checkTime()
    const wait = run.settle(output.needs)
    if (wait !== undefined) await run.within(wait)
    const destination = output.destination(run)
    let content: Content | undefined
    let fault: RunFault | undefined
    try {
      content = output.render(run, clickAddress)
    } catch (error) {
      fault = { node: output.node, error }
      run.faults.push(fault)
    }
    if (trace) {
      for (const node of run.unasked()) {
        const { node: id, type, name } = node
        trace({
          node: id,
          type,
          name,
          skipped: true,
          input: null,
          output: null,
          milliseconds: 0,
          fault: undefined,
        })
      }
      trace({
        ...output,
        skipped: false,
        input: inputOf(output, run),
        output: content ?? null,
        milliseconds: run.milliseconds - began,
        fault: fault && messageOf(fault.error),
      })
    }
    if (content === undefined) return ended({ output, destination, branch })
    const returnCode = run.isLate ? '3501' : run.faults.length > 0 ? '3502' : ''
    return ended({ content, output, destination, branch, returnCode })
  } catch (error) {
    run.faults.push({ node: undefined, error })
    return ended({ output, branch })
  }
}
