import type { Query } from '@millrace/contract/resources/query.ts'
import { findDimension } from './catalogue/catalogue.ts'
import type { Explained } from './explain-query.ts'
import { gatheredOf } from './gathered-answers.ts'
import { labelsAmong, type MemberUse, membersIn } from './label-warnings.ts'
import { compileQuery } from './query/compile/compile.ts'
import type { Definitions } from './query/compile/compile-lookups.ts'
import { parseQuery } from './query/parse/parse.ts'
import { planQuery } from './query/plan.ts'
import { createQueryFaults } from './query/query-faults.ts'
import { openZone } from './query/time/zone.ts'
import type { Prepared, Question } from './question.ts'

/** The statement of a query, with what it was made of. */
export interface PreparedQuery extends Prepared, Explained {}

/** A query as what the statistics answer. */
export function questionOf(query: Query): Question<PreparedQuery> {
  const members = membersIn(query)
  return {
    body: query,
    labels: labelsAmong(members),
    lookups: members.flatMap(({ id }) => findDimension(id)?.lookup ?? []),
    prepare({ companyId, instant, streamed, settings, cohorts, definitions }) {
      rejectUnknownTags(members, definitions)
      const now = { instant, zone: openZone(settings.timezone), cohorts }
      const plan = planQuery(parseQuery(query, now, { streamed }))
      const compiled = compileQuery(plan, companyId, { ...settings, definitions })
      const together = gatheredOf({ query, plan }, settings)
      return { compiled, zone: plan.zone, query, plan, settings, instant, together }
    },
  }
}

/** Which tags exist is for the company to say, unlike all other members. */
function rejectUnknownTags(members: readonly MemberUse[], { tags }: Definitions): void {
  const faults = createQueryFaults()
  for (const { id, path } of members) {
    const lookup = findDimension(id)?.lookup
    if (lookup?.of !== 'tag' || tags.has(lookup.keyId)) continue
    const text = `there is no tag key ${lookup.keyId}: GET /v2/statistics/meta lists those of your company`
    faults.add('unknownMember', path, text, id)
  }
  faults.throwAny()
}
