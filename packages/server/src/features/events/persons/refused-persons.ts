import { digestOf, type Kind } from './person-digests.ts'

/** Who sent an event. */
export interface EventSender {
  readonly tmpId: string
  /** Empty when absent. */
  readonly clientId: string
}

/** Of whom a company takes no event: hashes of their identifiers. */
export interface RefusedPersons {
  readonly salt: string
  readonly digests: ReadonlySet<string>
}

/** Whether events of a sender are refused. */
export function refusalTest({ salt, digests }: RefusedPersons): (sender: EventSender) => boolean {
  const has = (kind: Kind, identifier: string) => digests.has(digestOf(salt, kind, identifier))
  return ({ tmpId, clientId }) =>
    has('device', tmpId) || (clientId === '' ? has('anonymous', tmpId) : has('client', clientId))
}
