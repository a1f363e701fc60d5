import type { CohortMember } from '@millrace/contract/resources/cohort.ts'
import type { Listed, Range } from '../../../platform/paging.ts'
import { cohort } from '../catalogue/catalogue.ts'
import { events } from '../catalogue/events.ts'
import type { CompiledQuery } from '../query/compile/compile.ts'
import { rowsOf } from '../query/compile/compile-rows.ts'
import type { VisibleWorkflows } from '../query/compile/compile-workflows.ts'
import type { EventAliases } from '../query/compile/event-name.ts'
import { createParameters, type Parameters, select } from '../query/compile/parameters.ts'
import type { CohortCondition } from '../query/query.ts'
import type { EngineCell } from '../query/run.ts'
import { always } from '../query/time/interval.ts'

/** Whose events are read, under which names, and for whom: the users of a company take turns. */
export interface Company {
  readonly companyId: string
  readonly userId: string
  readonly eventAliases: EventAliases
  readonly visibleWorkflows: VisibleWorkflows
}

/** Reads who belongs to a cohort; `run` gives the cells of all rows. */
export interface CohortPeople {
  count(asked: PeopleAsked): Promise<{ people: number; identified: number }>
  list(asked: PeopleAsked, range: Range): Promise<Listed<CohortMember>>
}

export interface PeopleAsked {
  readonly company: Company
  readonly condition: CohortCondition
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal
}

export type RunStatement = (
  asked: Pick<PeopleAsked, 'company' | 'signal'>,
  statement: CompiledQuery,
) => Promise<readonly EngineCell[][]>

export function createCohortPeople(run: RunStatement): CohortPeople {
  const people: CohortPeople = {
    async count(asked) {
      const parameters = createParameters()
      const rows = rowsOfPeople(asked, parameters)
      rows.need(['person', 'identified'])
      const sql = select(['uniqExact(person)', 'uniqExactIf(person, identified)'], rows.relation())
      const [row] = await run(asked, statementOf(sql, parameters, 1))
      return { people: Number(row?.[0] ?? 0), identified: Number(row?.[1] ?? 0) }
    },

    async list(asked, { limit, offset }) {
      const parameters = createParameters()
      const rows = rowsOfPeople(asked, parameters)
      rows.need(['person', 'person_text', 'identified', 'time'])
      const columns = [
        'any(person_text) AS name',
        'max(identified)',
        'count()',
        'toUnixTimestamp64Milli(min(time))',
        'toUnixTimestamp64Milli(max(time))',
        'count() OVER ()',
      ]
      const part = [limit, offset].map((each) => parameters.bind('Int64', each))
      const sql = select(
        columns,
        rows.relation(),
        [],
        `\nGROUP BY person\nORDER BY name, person\nLIMIT ${part[0]} OFFSET ${part[1]}`,
      )
      const found = await run(asked, statementOf(sql, parameters, limit))
      const rowsOfPage = found.map(([person, identified, count, first, last]) => ({
        person: String(person),
        isIdentified: Boolean(identified),
        events: Number(count),
        firstSeen: new Date(Number(first)).toISOString(),
        lastSeen: new Date(Number(last)).toISOString(),
      }))
      // A page behind the last one has no row that says how many there are.
      const count = found[0] ? Number(found[0].at(-1)) : offset > 0 ? (await people.count(asked)).people : 0
      return { rows: rowsOfPage, count }
    },
  }
  return people
}

function rowsOfPeople({ company, condition }: PeopleAsked, parameters: Parameters) {
  const filter = { dimension: cohort, operator: 'equals' as const, values: [], cohort: condition }
  return rowsOf({ ...company, source: events, filters: [filter], times: always, parameters })
}

function statementOf(sql: string, parameters: Parameters, limit: number): CompiledQuery {
  return { ...parameters.statement(sql), columns: [], rangeLabels: [], limit }
}
