import type { PathsQuery } from '@millrace/contract/resources/paths.ts'
import { labelsAmong, membersOfFilters } from '../../label-warnings.ts'
import { openZone } from '../../query/time/zone.ts'
import type { Question } from '../../question.ts'
import { compilePaths } from './compile-paths.ts'
import { parsePaths } from './parse-paths.ts'

export function pathsQuestion(query: PathsQuery): Question {
  return {
    body: query,
    labels: labelsAmong(membersOfFilters(query.filters ?? [])),
    prepare({ companyId, instant, settings, cohorts }) {
      const zone = openZone(settings.timezone)
      return {
        compiled: compilePaths(parsePaths(query, { instant, zone, cohorts }), companyId, settings),
        zone,
      }
    },
  }
}
