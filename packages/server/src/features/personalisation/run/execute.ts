import type { ReturnCode } from '@millrace/contract/resources/workflow-preview.ts'
import {
  type BranchTree,
  type CompiledBranch,
  type CompiledEntrypoint,
  type Content,
  type LogicStep,
  type OutputStep,
  type Step,
  stepKey,
} from '../compile/executable.ts'
import { inputOf, messageOf, Run, type RunFault, type RunOptions } from './run.ts'

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

export interface ExecuteOptions extends RunOptions {
  readonly entrypoint: CompiledEntrypoint
  /** Of the content that is shown. */
  readonly clickAddress: (shown: ShownContent) => string
}

/** What a click on a content needs to know of it. */
export type ShownContent = Pick<Outcome, 'branch' | 'destination'>

interface Way {
  readonly output: OutputStep | undefined
  readonly tree: BranchTree | undefined
}

/** Takes the output of a logic node; where it fails, that which `default` stands for. At once where nothing is to come. */
function takeOutput(step: LogicStep, run: Run, trace: ExecuteOptions['trace']): number | Promise<number> {
  const began = run.stepBegins

  function take(chosen: number): number {
    if (chosen < 0) return fail(new Error('the node has no such output'))
    return end(chosen, undefined)
  }

  function fail(error: unknown): number {
    run.faults.push({ node: step.node, error })
    return end(step.fallback, messageOf(error))
  }

  function end(number: number, fault: string | undefined): number {
    trace?.({
      ...step,
      skipped: false,
      input: inputOf(step, run),
      output: step.outputs[number] ?? null,
      milliseconds: run.milliseconds - began,
      fault,
    })
    return number
  }

  let chosen: number | Promise<number>
  try {
    run.ask(step.needs)
    chosen = step.choose(run)
  } catch (error) {
    return fail(error)
  }
  return typeof chosen === 'number' ? take(chosen) : chosen.then(take, fail)
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
    const wait = run.use(output.needs)
    if (wait !== undefined) await wait
    const destination = output.destination(run)
    let content: Content | undefined
    let fault: RunFault | undefined
    try {
      content = output.render(run, () => clickAddress({ branch, destination }))
    } catch (error) {
      fault = { node: output.node, error }
      run.faults.push(fault)
    }
    if (trace) {
      for (const node of run.unused()) {
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
  } finally {
    run.end()
  }
}
