import type { FunnelQuery } from '@millrace/contract/resources/funnel.ts'
import type { PathsQuery } from '@millrace/contract/resources/paths.ts'
import type { RetentionQuery } from '@millrace/contract/resources/retention.ts'
import type { ExplorationKind } from '@millrace/contract/resources/saved-exploration.ts'
import { labelsAmong, membersOfFilters } from '../label-warnings.ts'
import { openZone } from '../query/time/zone.ts'
import type { Asked, Question } from '../question.ts'
import { compileFunnel } from './funnels/compile-funnel.ts'
import { parseFunnel } from './funnels/parse-funnel.ts'
import { compilePaths } from './paths/compile-paths.ts'
import { parsePaths } from './paths/parse-paths.ts'
import { compileRetention } from './retention/compile-retention.ts'
import { parseRetention } from './retention/parse-retention.ts'
import { membersOfSelection } from './selection.ts'

const readingOf = ({ instant, settings, cohorts }: Asked) => ({
  instant,
  zone: openZone(settings.timezone),
  cohorts,
})

export function funnelQuestion(query: FunnelQuery): Question {
  const { steps, filters, breakdown } = query
  return {
    body: query,
    labels: labelsAmong([
      ...steps.flatMap((step, i) => membersOfSelection(step, `steps.${i}`)),
      ...membersOfFilters(filters ?? []),
      ...(breakdown ? [{ id: breakdown, path: 'breakdown' }] : []),
    ]),
    prepare(asked) {
      const { companyId, settings } = asked
      const funnel = parseFunnel(query, readingOf(asked), settings.eventAliases)
      return { compiled: compileFunnel(funnel, companyId, settings.visibleWorkflows), zone: funnel.zone }
    },
  }
}

export function pathsQuestion(query: PathsQuery): Question {
  return {
    body: query,
    labels: labelsAmong(membersOfFilters(query.filters ?? [])),
    prepare(asked) {
      const reading = readingOf(asked)
      const compiled = compilePaths(parsePaths(query, reading), asked.companyId, asked.settings)
      return { compiled, zone: reading.zone }
    },
  }
}

export function retentionQuestion(query: RetentionQuery): Question {
  return {
    body: query,
    labels: labelsAmong([
      ...membersOfSelection(query.firstEvent, 'firstEvent'),
      ...membersOfSelection(query.returnEvent, 'returnEvent'),
      ...membersOfFilters(query.filters ?? []),
    ]),
    prepare(asked) {
      const reading = readingOf(asked)
      const compiled = compileRetention(parseRetention(query, reading), asked.companyId, asked.settings)
      return { compiled, zone: reading.zone }
    },
  }
}

const questions: Readonly<Record<ExplorationKind, (body: unknown) => Question>> = {
  funnel: (body) => funnelQuestion(body as FunnelQuery),
  retention: (body) => retentionQuestion(body as RetentionQuery),
  paths: (body) => pathsQuestion(body as PathsQuery),
}

/** @param body has the shape of its kind */
export const explorationQuestion = (kind: ExplorationKind, body: unknown): Question => questions[kind](body)
