import {
  type Allocated,
  assignmentBounds,
  assignmentPoint,
  assignVariant,
} from '@millrace/contract/experiments/assignment.ts'
import type { WorkflowNode } from '@millrace/contract/resources/workflow-definition.ts'
import type { RunnableExperiment } from '../ports.ts'
import { type DataNumbers, needsOf } from './compile-binding.ts'
import { compileConditions } from './compile-conditions.ts'
import { NoValue, previewOf } from './compile-data.ts'
import type { LogicStep, RunView } from './executable.ts'

type LogicType = 'conditions' | 'cohort' | 'split' | 'experiment'
export type LogicNode = Extract<WorkflowNode, { type: LogicType }>

type Compiled = Pick<LogicStep, 'needs' | 'outputs' | 'inputOf' | 'choose' | 'fallback'>

/** What logic nodes are compiled with. */
export interface LogicContext {
  readonly workflowId: string
  readonly numbers: DataNumbers
  /** Outputs that edges of the node name. */
  readonly outputsOf: (node: string) => readonly string[]
}

/** The variant that a state gives (docs/experiments.md, Assignment); an ended one is not asked who was exposed to it. */
export function variantOf(experiment: RunnableExperiment, unit: string): string {
  const { status, routingVariantId, baselineVariantId, salt, variants } = experiment
  if (routingVariantId !== undefined) return routingVariantId
  return status === 'running' ? assignVariant(salt, unit, variants).id : baselineVariantId
}

/** Groups stay as they are over versions: their place follows from workflow and node alone. */
function compileSplit(
  groups: readonly { readonly id: string; readonly share: number }[],
  salt: string,
): (unit: string) => number {
  const bounds = assignmentBounds(groups.map(({ id, share }): Allocated => ({ id, allocation: share / 100 })))
  return (unit) => {
    const point = assignmentPoint(salt, unit)
    return bounds.findIndex((bound) => point < bound)
  }
}

export function compileLogic(node: LogicNode, id: string, context: LogicContext): Compiled {
  const unitOf = ({ request }: RunView) => ({ unit: request.unit })
  switch (node.type) {
    case 'conditions': {
      const { outputs, bindings, choose } = compileConditions(node, context.numbers)
      return {
        outputs,
        needs: needsOf(bindings),
        fallback: outputs.length - 1,
        inputOf: (run) =>
          bindings.flatMap(({ fixed, need, read }) => {
            if (fixed) return []
            return [need !== undefined && run.isUsed(need) ? previewOf(read(run)) : null]
          }),
        choose,
      }
    }
    case 'cohort':
      return {
        outputs: ['member', 'default'],
        needs: [],
        fallback: 1,
        inputOf: ({ request }) => request.person,
        async choose(run) {
          const { request, environment, signal } = run
          const { device, client } = request.person
          const { companyId } = environment
          if (run.isLate) throw new Error('no time is left to ask')
          if (device === undefined && client === undefined) return 1
          const asked = { companyId, cohortId: node.cohortId, device, client, signal }
          const isMember = await run.within(environment.persons.isMember(asked))
          if (isMember === undefined) throw new Error('no answer came in time')
          return isMember ? 0 : 1
        },
      }
    case 'split': {
      const groupOf = compileSplit(node.groups, `${context.workflowId}:${id}`)
      return {
        outputs: node.groups.map((group) => group.id),
        needs: [],
        fallback: 0,
        inputOf: unitOf,
        choose: ({ request }) => groupOf(request.unit),
      }
    }
    case 'experiment': {
      const outputs = context.outputsOf(id)
      return {
        outputs,
        needs: [],
        fallback: 0,
        inputOf: unitOf,
        choose({ request, environment }) {
          const experiment = environment.findExperiment(node.experimentId)
          if (!experiment) throw new NoValue('the experiment is not there')
          const unit = experiment.unit === 'device' ? request.tmpId : request.unit
          return outputs.indexOf(variantOf(experiment, unit))
        },
      }
    }
  }
}
