import type { Columnar } from '../../../platform/stores/columnar.ts'
import { personInCohort } from '../query/compile/compile-cohorts.ts'
import { devicesOfPeople } from '../query/compile/compile-people.ts'
import { rowsOf } from '../query/compile/compile-rows.ts'
import type { EventAliases } from '../query/compile/event-name.ts'
import { createParameters } from '../query/compile/parameters.ts'
import { nested, select } from '../query/compile/sql-text.ts'
import type { CohortCondition } from '../query/query.ts'
import { compileAsked } from './compile-persons.ts'
import type { PersonName } from './person.ts'
import { settingsOfPersons } from './statement-limits.ts'

export interface AskedMembership {
  readonly companyId: string
  readonly condition: CohortCondition
  readonly eventAliases: EventAliases
}

/** Says which persons belong to a cohort, in the order of the persons; it reads what is stored of these alone. */
export type ReadMembership = (
  asked: AskedMembership,
  names: readonly PersonName[],
  signal: AbortSignal,
) => Promise<readonly boolean[]>

export function createMembershipReader({
  columnar,
}: {
  readonly columnar: Pick<Columnar, 'query'>
}): ReadMembership {
  return async ({ companyId, condition, eventAliases }, names, signal) => {
    const parameters = createParameters()
    const { ofCompany, asked, persons, numbers } = compileAsked(names, companyId, parameters)
    // Events are sorted by device: those of the persons are found before any other column is read.
    const devices = parameters.define(
      select(['groupUniqArray(device)'], nested(devicesOfPeople(persons, [ofCompany], ofCompany))),
    )
    const belongs = personInCohort('person', condition, {
      companyId,
      eventAliases,
      parameters,
      rowsOf,
      only: {
        numbers,
        events: [
          `device IN (SELECT arrayJoin(${devices}))`,
          `(client IN ${persons} OR (client = 0 AND device IN ${numbers}))`,
        ],
      },
    })
    const statement = parameters.statement(select(['at'], asked, [belongs]))
    const rows = await columnar.query<{ at: number }>({ ...statement, settings: settingsOfPersons, signal })
    const members = new Set(rows.map(({ at }) => at))
    return names.map((_, place) => members.has(place + 1))
  }
}
