import { assignVariant } from '@millrace/contract/experiments/assignment.ts'
import type { WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import type { RunnableExperiment } from '../../compile/executable.ts'
import { NoValue } from '../../compile/values.ts'
import type { LogicNodeKind } from './node-kind.ts'

/** The variant that a state gives (docs/experiments.md, Assignment); an ended one is not asked who was exposed to it. */
function variantOf(experiment: RunnableExperiment, unit: string): string {
  const { status, routingVariantId, baselineVariantId, salt, variants } = experiment
  if (routingVariantId !== undefined) return routingVariantId
  return status === 'running' ? assignVariant(salt, unit, variants).id : baselineVariantId
}

/** Takes the variant of an experiment that the person is assigned. */
export const experiment: LogicNodeKind<WorkflowNodeOf<'experiment'>> = {
  reference: {
    field: 'experimentId',
    kind: 'experiments',
    noun: 'experiment',
    faultOf: (id, { experiments }) =>
      experiments.get(id)?.status === 'archived'
        ? 'the experiment is archived; choose another one'
        : undefined,
  },
  outputsOf: () => [],
  foreignOutputsOf: ({ experimentId }, { experiments }) => experiments.get(experimentId)?.variants,
  tagOf({ experimentId }, output, { experiments }) {
    const { systemTagKeyId: tagKeyId, variants = [] } = experiments.get(experimentId) ?? {}
    const tagValueId = variants.find(({ id }) => id === output)?.tagValueId
    return tagKeyId && tagValueId ? { tagKeyId, tagValueId } : undefined
  },

  compile: ({ experimentId }, { outputs }) => ({
    inputOf: ({ request }) => ({ unit: request.unit }),
    choose({ request, environment }) {
      const found = environment.findExperiment(experimentId)
      if (!found) throw new NoValue('the experiment is not there')
      return outputs.indexOf(variantOf(found, found.unit === 'device' ? request.tmpId : request.unit))
    },
  }),
}
