import type { Columnar } from '../../../platform/stores/columnar.ts'
import { personInCohort } from '../query/compile/compile-cohorts.ts'
import { rowsOf } from '../query/compile/compile-rows.ts'
import type { EventAliases } from '../query/compile/event-name.ts'
import { createParameters, nested, select } from '../query/compile/parameters.ts'
import type { CohortCondition } from '../query/query.ts'
import type { PersonName } from './person.ts'
import { type ResolvePersons, settingsOfPersons } from './person-bindings-store.ts'

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

export interface MembershipDependencies {
  readonly columnar: Pick<Columnar, 'query'>
  readonly resolvePersons: ResolvePersons
}

export function createMembershipReader({ columnar, resolvePersons }: MembershipDependencies): ReadMembership {
  return async ({ companyId, condition, eventAliases }, names, signal) => {
    const { persons, owners } = await resolvePersons(companyId, names, signal)
    const asked = [...new Set(persons)]
    const parameters = createParameters()
    const ofCompany = `company = ${parameters.bind('String', companyId)}`
    const hashes = (texts: readonly string[]) =>
      `(SELECT sipHash64(arrayJoin(${parameters.bind('Array(String)', texts)})) AS device)`
    const numbers = hashes(owners)
    const clients = hashes(asked)
    // Events are sorted by device: those of the persons are found before any other column is read.
    const used = select(['device'], 'events', [ofCompany, `client IN ${clients}`])
    const devices = parameters.define(
      select(['groupUniqArray(device)'], nested(`${used}\nUNION ALL\nSELECT device FROM ${numbers}`)),
    )
    const belongs = personInCohort('sipHash64(text)', condition, {
      companyId,
      eventAliases,
      // Persons are members for what is shown, and for no reader.
      visibleWorkflows: 'all',
      parameters,
      rowsOf,
      only: {
        numbers,
        events: [
          `device IN (SELECT arrayJoin(${devices}))`,
          `(client IN ${clients} OR (client = 0 AND device IN ${numbers}))`,
        ],
      },
    })
    const texts = `(SELECT arrayJoin(${parameters.bind('Array(String)', asked)}) AS text)`
    const statement = parameters.statement(select(['text'], texts, [belongs]))
    const rows = await columnar.query<{ text: string }>({ ...statement, settings: settingsOfPersons, signal })
    const members = new Set(rows.map(({ text }) => text))
    return persons.map((person) => members.has(person))
  }
}
