import type { RetentionQuery } from '@millrace/contract/resources/retention.ts'
import { labelsAmong, membersOfFilters } from '../../label-warnings.ts'
import { openZone } from '../../query/time/zone.ts'
import type { Question } from '../../question.ts'
import { membersOfSelection } from '../selection.ts'
import { compileRetention } from './compile-retention.ts'
import { parseRetention } from './parse-retention.ts'

export function retentionQuestion(query: RetentionQuery): Question {
  return {
    body: query,
    labels: labelsAmong([
      ...membersOfSelection(query.firstEvent, 'firstEvent'),
      ...membersOfSelection(query.returnEvent, 'returnEvent'),
      ...membersOfFilters(query.filters ?? []),
    ]),
    prepare({ companyId, instant, settings, cohorts }) {
      const zone = openZone(settings.timezone)
      return {
        compiled: compileRetention(parseRetention(query, { instant, zone, cohorts }), companyId, settings),
        zone,
      }
    },
  }
}
