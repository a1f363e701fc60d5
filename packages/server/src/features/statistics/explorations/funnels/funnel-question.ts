import type { FunnelQuery } from '@millrace/contract/resources/funnel.ts'
import { labelsAmong, membersOfFilters } from '../../label-warnings.ts'
import { openZone } from '../../query/time/zone.ts'
import type { Question } from '../../question.ts'
import { membersOfSelection } from '../selection.ts'
import { compileFunnel } from './compile-funnel.ts'
import { parseFunnel } from './parse-funnel.ts'

export function funnelQuestion(query: FunnelQuery): Question {
  const { steps, filters, breakdown } = query
  return {
    body: query,
    labels: labelsAmong([
      ...steps.flatMap((step, i) => membersOfSelection(step, `steps.${i}`)),
      ...membersOfFilters(filters ?? []),
      ...(breakdown ? [{ id: breakdown, path: 'breakdown' }] : []),
    ]),
    prepare({ companyId, instant, settings, cohorts }) {
      const now = { instant, zone: openZone(settings.timezone), cohorts }
      const funnel = parseFunnel(query, now, settings.eventAliases)
      return { compiled: compileFunnel(funnel, companyId, settings.sight), zone: funnel.zone }
    },
  }
}
