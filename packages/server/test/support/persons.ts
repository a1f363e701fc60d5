import type { StoredCohort } from '../../src/features/analytics/cohorts/cohort-store.ts'
import { createMembershipReader } from '../../src/features/analytics/persons/cohort-membership-store.ts'
import { createBindingsReader } from '../../src/features/analytics/persons/person-bindings-store.ts'
import { createPersonEventsStore } from '../../src/features/analytics/persons/person-events-store.ts'
import {
  createPersonService,
  type PersonLimits,
  type PersonService,
} from '../../src/features/analytics/persons/person-service.ts'
import type { Columnar, Statement } from '../../src/platform/stores/columnar.ts'
import { testCompany } from './statistics-events.ts'

export interface PersonsOptions {
  readonly columnar: Pick<Columnar, 'query'>
  readonly limits?: Partial<PersonLimits>
  readonly cohorts?: Map<string, Partial<StoredCohort>>
  /** Of the company, at the moment of the statement. */
  readonly settings?: { timezone: string; eventAliases: ReadonlyMap<string, string> }
  /** Milliseconds of the clock that says how old an answer is. */
  readonly now?: () => number
}

export interface TestPersons extends PersonService {
  /** Every statement that was sent. */
  readonly statements: Statement[]
}

export const soon = (): AbortSignal => AbortSignal.timeout(20_000)

/** The service that reads persons over an engine, with cohorts and settings in memory. */
export function openPersons({ columnar, limits, cohorts, settings, now }: PersonsOptions): TestPersons {
  const statements: Statement[] = []
  const counted: Pick<Columnar, 'query'> = {
    query(statement) {
      statements.push(statement)
      return columnar.query(statement)
    },
  }
  const over = { columnar: counted, resolvePersons: createBindingsReader({ columnar: counted }) }
  const service = createPersonService({
    events: createPersonEventsStore(over),
    readMembership: createMembershipReader(over),
    async findCohort(companyId, id) {
      const found = cohorts?.get(id)
      return companyId === testCompany && found ? ({ id, name: id, ...found } as StoredCohort) : undefined
    },
    readSettings: async () => settings ?? { timezone: 'UTC', eventAliases: new Map() },
    clock: { now: () => Date.now() },
    ...(now && { steadyClock: { now } }),
    limits: { statementMs: 20_000, ...limits },
  })
  return { ...service, statements }
}
