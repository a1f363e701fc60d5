import type { WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import type { LogicNodeKind } from './node-kind.ts'

/** Parts the members of a cohort from all others. */
export const cohort: LogicNodeKind<WorkflowNodeOf<'cohort'>> = {
  reference: { field: 'cohortId', kind: 'cohorts', noun: 'cohort' },
  outputsOf: () => [{ id: 'member' }, { id: 'default' }],
  hasDefault: true,
  scoreOf: (_, output) => (output === 'member' ? 1 : 0),

  compile: ({ cohortId }) => ({
    inputOf: ({ request }) => request.person,
    async choose(run) {
      const { request, environment, signal } = run
      const { device, client } = request.person
      const { companyId } = environment
      if (run.isLate) throw new Error('no time is left to ask')
      if (device === undefined && client === undefined) return 1
      const isMember = await run.within(
        environment.persons.isMember({ companyId, cohortId, device, client, signal }),
      )
      if (isMember === undefined) throw new Error('no answer came in time')
      return isMember ? 0 : 1
    },
  }),
}
