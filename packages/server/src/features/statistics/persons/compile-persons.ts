import { identityColumns } from '../members/identity-columns.ts'
import { bindingsSql } from '../query/compile/compile-stored.ts'
import type { Parameters } from '../query/compile/parameters.ts'
import { nested, select } from '../query/compile/sql-text.ts'
import type { PersonName } from './person.ts'

/** Persons who are asked about in one statement. */
export interface AskedPersons {
  /** The condition that every scan of a table has. */
  readonly ofCompany: string
  /** A relation of `at`, the place of each name from 1 on, and `person`, the number of whom it names. */
  readonly asked: string
  /** A relation of the numbers of these persons. */
  readonly persons: string
  /** A relation of these numbers and those of all devices that are bound to these persons, or were once. */
  readonly numbers: string
}

/** Resolves names to persons as docs/statistics.md says: a device stands for the client to which it is bound. */
export function compileAsked(
  names: readonly PersonName[],
  companyId: string,
  parameters: Parameters,
): AskedPersons {
  const ofCompany = `company = ${parameters.bind('String', companyId)}`
  const [clients, devices] = (['client', 'device'] as const).map((field) =>
    parameters.bind(
      'Array(String)',
      names.map((name) => name[field]),
    ),
  )
  const hashed = (text: string) => `if(${text} = '', 0, sipHash64(${text}))`
  const named = select(
    ['place AS at', `${hashed('client_text')} AS client`, `${hashed('device_text')} AS device`],
    `(SELECT 1)\nARRAY JOIN arrayEnumerate(${clients}) AS place, ${clients} AS client_text, ${devices} AS device_text`,
  )
  const bindings = bindingsSql(new Set(['bound'] as const), [
    ofCompany,
    `device IN (SELECT sipHash64(arrayJoin(${devices})))`,
  ])
  const resolved = select(
    ['at', `${identityColumns.person?.sql} AS person`],
    `${nested(named)} AS named\nLEFT ANY JOIN ${nested(bindings)} AS identity ON named.device = identity.of_device`,
  )
  const found = parameters.define(select(['groupArray((at, person))'], nested(resolved)))
  const asked = nested(
    select(['each.1 AS at', 'each.2 AS person'], nested(`SELECT arrayJoin(${found}) AS each`)),
  )
  const persons = `(SELECT arrayJoin(${found}).2)`
  const bound = select(['device AS number'], 'identities', [ofCompany, `client IN ${persons}`])
  const numbers = parameters.define(
    select(['groupUniqArray(number)'], nested(`SELECT arrayJoin(${found}).2 AS number\nUNION ALL\n${bound}`)),
  )
  return { ofCompany, asked, persons, numbers: `(SELECT arrayJoin(${numbers}))` }
}
