import type { CohortMember } from '@millrace/contract/resources/cohort.ts'
import type { Range } from '../../../platform/paging.ts'
import { cohort } from '../members/cohort.ts'
import { events } from '../members/events.ts'
import type { CompiledQuery } from '../query/compile/compile.ts'
import { rowsOf } from '../query/compile/compile-rows.ts'
import type { EventAliases } from '../query/compile/event-name.ts'
import { createParameters, type Parameters } from '../query/compile/parameters.ts'
import { select } from '../query/compile/sql-text.ts'
import type { CohortCondition } from '../query/query.ts'
import type { EngineCell } from '../query/run.ts'
import { always } from '../query/time/interval.ts'

/** Whose events are read, under which names, and for whom: the users of a company take turns. */
export interface Company {
  readonly companyId: string
  readonly userId: string
  readonly eventAliases: EventAliases
}

/** Reads who belongs to a cohort; `run` gives the cells of all rows. */
export interface CohortPeople {
  count(company: Company, condition: CohortCondition): Promise<{ people: number; identified: number }>
  list(company: Company, condition: CohortCondition, range: Range): Promise<CohortMember[]>
}

export type RunStatement = (asker: Company, statement: CompiledQuery) => Promise<readonly EngineCell[][]>

export function createCohortPeople(run: RunStatement): CohortPeople {
  return {
    async count(company, condition) {
      const parameters = createParameters()
      const rows = rowsOfPeople(company, condition, parameters)
      rows.need(['person', 'identified'])
      const sql = select(['uniqExact(person)', 'uniqExactIf(person, identified)'], rows.relation())
      const [row] = await run(company, statementOf(sql, parameters, 1))
      return { people: Number(row?.[0] ?? 0), identified: Number(row?.[1] ?? 0) }
    },

    async list(company, condition, { limit, offset }) {
      const parameters = createParameters()
      const rows = rowsOfPeople(company, condition, parameters)
      rows.need(['person', 'person_text', 'identified', 'time'])
      const columns = [
        'any(person_text) AS name',
        'max(identified)',
        'count()',
        'toUnixTimestamp64Milli(min(time))',
        'toUnixTimestamp64Milli(max(time))',
      ]
      const part = [limit, offset].map((each) => parameters.bind('Int64', each))
      const sql = select(
        columns,
        rows.relation(),
        [],
        `\nGROUP BY person\nORDER BY name, person\nLIMIT ${part[0]} OFFSET ${part[1]}`,
      )
      const found = await run(company, statementOf(sql, parameters, limit))
      return found.map(([person, identified, count, first, last]) => ({
        person: String(person),
        isIdentified: Boolean(identified),
        events: Number(count),
        firstSeen: new Date(Number(first)).toISOString(),
        lastSeen: new Date(Number(last)).toISOString(),
      }))
    },
  }
}

function rowsOfPeople(company: Company, condition: CohortCondition, parameters: Parameters) {
  const filter = { dimension: cohort, operator: 'equals' as const, values: [], cohort: condition }
  return rowsOf({ ...company, source: events, filters: [filter], times: always, parameters })
}

function statementOf(sql: string, parameters: Parameters, limit: number): CompiledQuery {
  return { sql: parameters.prelude() + sql, params: parameters.values, columns: [], rangeLabels: [], limit }
}
