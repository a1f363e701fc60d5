import { createAssignmentService } from '../features/experiments/assignment-service.ts'
import { createExperimentService } from '../features/experiments/experiment-service.ts'
import { createExperimentStarter } from '../features/experiments/experiment-start.ts'
import { createExperimentStore } from '../features/experiments/experiment-store.ts'
import {
  createDecisionReader,
  createResultsReader,
  createResultsService,
} from '../features/experiments/results/results-service.ts'
import { createSystemTagKeys } from '../features/tag-keys/system-tag-keys.ts'
import { createTagKeyService } from '../features/tag-keys/tag-key-service.ts'
import type { Analytics } from './analytics.ts'
import type { Shared } from './shared.ts'
import type { WorkflowReaders } from './workflow-readers.ts'

export function wireExperiments(
  shared: Shared,
  { uses: workflowUses }: Pick<WorkflowReaders, 'uses'>,
  { measureExperiment }: Pick<Analytics, 'measureExperiment'>,
) {
  const { overrides } = shared
  const readResults = createResultsReader(measureExperiment)
  const experiments = createExperimentService({
    ...shared,
    tagKeys: createSystemTagKeys(),
    requireWorkflows: workflowUses.requireWorkflows,
    readResults: overrides.readResults ?? createDecisionReader(readResults),
  })
  return {
    experiments,
    experimentResults: createResultsService({ readMeasured: experiments.readMeasured, readResults }),
    experimentStarter: createExperimentStarter(shared),
    assignments: createAssignmentService(shared),
    tagKeys: createTagKeyService({
      ...shared,
      listUsesOfTag:
        overrides.listUsesOfTag ??
        (async (tx, tag) => {
          const uses = await createExperimentStore(tx).listUsesOfTag(tag)
          const experimentUses = uses.map((use) => ({ kind: 'experiment' as const, ...use }))
          if (tag.valueId !== undefined) return experimentUses
          const reference = { kind: 'tag-key', resourceId: tag.tagKeyId } as const
          const published = await workflowUses.listPublished(tx, tag, reference)
          return [...experimentUses, ...published.map((use) => ({ kind: 'workflow' as const, ...use }))]
        }),
      forgetTag: workflowUses.forgetTag,
    }),
  }
}
