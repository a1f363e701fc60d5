import type { Source } from '../../catalogue/member.ts'
import { nested, type Parameters, select } from './parameters.ts'

interface Context {
  readonly ofCompany: string
  readonly parameters: Parameters
}

/** The numbers of persons, as a relation. */
function hashesOf(people: readonly string[], { parameters }: Context): string {
  const bound = parameters.bind('Array(String)', people)
  return `(SELECT arrayJoin(arrayMap(value -> sipHash64(value), ${bound})))`
}

/** Devices whose rows may belong to persons by their binding, or by having the person's name themselves. */
function boundDevices(hashes: string, ofCompany: string): string {
  return `SELECT * FROM ${hashes}\nUNION ALL\nSELECT device FROM identities WHERE ${ofCompany} AND client IN ${hashes}`
}

/**
 * The condition that a stored row may be one of these persons', by numbers alone. Different texts may have one
 * number, so the filter on the person's text decides; every row of the persons passes.
 * @param scope conditions on the company and the times
 */
export function ofPeople(
  source: Source,
  people: readonly string[],
  scope: readonly string[],
  context: Context,
): string {
  const hashes = hashesOf(people, context)
  const bound = boundDevices(hashes, context.ofCompany)
  if (source.table === 'orders') {
    const devices = `(SELECT groupUniqArray(device) FROM ${nested(devicesNamed(bound))})`
    const condition = `(client IN ${hashes} OR device IN ${nested(bound)} OR hasAny(later_devices, ${devices}))`
    // Merging the rows of orders costs most, so only those times are merged at which some row may be a person's.
    return `time IN ${nested(select(['time'], source.table, [...scope, condition]))} AND ${condition}`
  }
  const any = nested(devicesOfPeople(hashes, scope, context.ofCompany))
  return `device IN ${any} AND (client IN ${hashes} OR (client = 0 AND device IN ${nested(bound)}))`
}

/**
 * Devices of which some event may be one of these persons': the events are sorted by device, so that these find them.
 * @param hashes a relation of the persons' numbers
 * @param scope conditions on the company and the times
 */
export function devicesOfPeople(hashes: string, scope: readonly string[], ofCompany: string): string {
  const used = select(['device'], 'events', [...scope, `client IN ${hashes}`])
  return `${boundDevices(hashes, ofCompany)}\nUNION ALL\n${used}`
}

function devicesNamed(bound: string): string {
  return `SELECT 0 AS device WHERE 0\nUNION ALL\n${bound}`
}

/**
 * Conditions that a binding is of a device that matters, where few may: rows of those persons without a client, or
 * orders within bounds, which are cheaper to read twice than all bindings of a company.
 */
export function bindingConditions(
  source: Source,
  rows: { readonly table: string; readonly where: readonly string[]; readonly bounded: boolean },
  people: readonly (readonly string[])[],
  context: Context,
): string[] {
  if (source.table === 'orders') {
    if (people.length === 0 && !rows.bounded) return []
    const devices = select(['arrayJoin(arrayPushBack(later_devices, device))'], rows.table, rows.where)
    return [`device IN ${nested(devices)}`]
  }
  return people.map((values) => {
    const bound = boundDevices(hashesOf(values, context), context.ofCompany)
    return `device IN ${nested(bound)}`
  })
}
