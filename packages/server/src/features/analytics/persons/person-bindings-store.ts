import type { Columnar } from '../../../platform/stores/columnar.ts'
import { nested, select } from '../query/compile/parameters.ts'
import type { PersonName } from './person.ts'

const mebibyte = 1024 * 1024

/** Seconds that a statement about persons may take: no run of a workflow waits longer. */
export const personSeconds = 2

/** A small share of the engine: one thread, on the lanes for short statements where the others are taken. */
export const settingsOfPersons = {
  max_execution_time: personSeconds,
  max_threads: 1,
  max_memory_usage: 512 * mebibyte,
  max_result_bytes: 32 * mebibyte,
} as const

/** Devices of one person whose events are read: those that were bound last. */
export const maxDevices = 100

/** Persons whom names stand for, each by the text that statistics show of them. */
export interface ResolvedPersons {
  /** In the order of the names. */
  readonly persons: readonly string[]
  /** The persons, and the devices that are bound to them: under these their events are stored. */
  readonly owners: readonly string[]
  /** The person of an event without a client. */
  ofDevice(device: string): string
}

/** Resolves names to persons as docs/statistics.md says: a device stands for the client to which it is bound. */
export type ResolvePersons = (
  companyId: string,
  names: readonly PersonName[],
  signal: AbortSignal,
) => Promise<ResolvedPersons>

interface BindingRow {
  readonly device_id: string
  readonly bound_id: string
}

const hashes = (name: string) => `(SELECT sipHash64(arrayJoin({${name}:Array(String)})))`

/** The last binding of each device that is asked about, or was ever bound to one of the persons. */
function bindingsSql({
  devices,
  clients,
}: {
  devices: readonly string[]
  clients: readonly string[]
}): string {
  const ofCompany = 'company = {company:String}'
  const candidates: string[] = []
  if (clients.length > 0) candidates.push(`client IN ${hashes('clients')}`)
  if (devices.length > 0) {
    const ofDevices = select(['client'], 'identities', [ofCompany, `device IN ${hashes('devices')}`])
    candidates.push(`device IN ${hashes('devices')}`, `client IN ${nested(ofDevices)}`)
  }
  const bound = select(['device'], 'identities', [ofCompany, `(${candidates.join(' OR ')})`])
  return select(
    ['any(tmp_id) AS device_id', 'argMax(client_id, (time, client_id)) AS bound_id'],
    'identities',
    [ofCompany, `device IN ${nested(bound)}`],
    '\nGROUP BY device' +
      '\nORDER BY has({devices:Array(String)}, device_id) DESC, max(time) DESC, device' +
      `\nLIMIT ${maxDevices} BY bound_id`,
  )
}

export function createBindingsReader({
  columnar,
}: {
  readonly columnar: Pick<Columnar, 'query'>
}): ResolvePersons {
  return async (companyId, names, signal) => {
    const given = (field: keyof PersonName) => names.map((name) => name[field]).filter((text) => text !== '')
    const texts = { devices: given('device'), clients: given('client') }
    const rows = await columnar.query<BindingRow>({
      sql: bindingsSql(texts),
      params: { company: companyId, ...texts },
      settings: settingsOfPersons,
      signal,
    })
    const bound = new Map(rows.map((row) => [row.device_id, row.bound_id]))
    const ofDevice = (device: string): string => bound.get(device) ?? device
    const persons = names.map(({ client, device }) => (client === '' ? ofDevice(device) : client))
    const wanted = new Set(persons)
    const devices = rows.filter((row) => wanted.has(row.bound_id)).map((row) => row.device_id)
    return { persons, owners: [...new Set([...persons, ...devices])], ofDevice }
  }
}
