import { assignmentBounds, assignmentPoint } from '@millrace/contract/experiments/assignment.ts'
import type { WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import { checkOutputIds } from './checks.ts'
import type { LogicNodeKind } from './node-kind.ts'

/** Of the sum of shares. */
const shareError = 1e-9

/** Parts persons into groups of given shares. */
export const split: LogicNodeKind<WorkflowNodeOf<'split'>> = {
  outputsOf: ({ groups }) => groups,

  check: () =>
    function* ({ groups }, at) {
      const sum = groups.reduce((total, { share }) => total + share, 0)
      if (Math.abs(sum - 100) > shareError) {
        const given = Number(sum.toFixed(9))
        yield at('shares', 'groups', `the shares of its groups must sum to 100, and sum to ${given}`)
      }
      yield* checkOutputIds('groups', groups, at)
    },

  compile({ groups }, { workflowId, id: nodeId }) {
    const bounds = assignmentBounds(groups.map(({ id, share }) => ({ id, allocation: share / 100 })))
    // Groups stay as they are over versions: their place follows from workflow and node alone.
    const salt = `${workflowId}:${nodeId}`
    return {
      inputOf: ({ request }) => ({ unit: request.unit }),
      choose({ request }) {
        const point = assignmentPoint(salt, request.unit)
        return bounds.findIndex((bound) => point < bound)
      },
    }
  },
}
