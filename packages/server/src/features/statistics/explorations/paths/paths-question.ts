import type { PathsQuery } from '@millrace/contract/resources/paths.ts'
import { labelsAmong, membersOfFilters } from '../../label-warnings.ts'
import { openZone } from '../../query/time/zone.ts'
import type { Question } from '../../question.ts'
import { compilePaths } from './compile-paths.ts'
import { parsePaths } from './parse-paths.ts'

export function pathsQuestion(query: PathsQuery): Question {
  return {
    labels: labelsAmong(membersOfFilters(query.filters ?? [])),
    prepare({ companyId, instant, settings }) {
      const zone = openZone(settings.timezone)
      return { compiled: compilePaths(parsePaths(query, { instant, zone }), companyId, settings), zone }
    },
  }
}
