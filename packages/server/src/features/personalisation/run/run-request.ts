import type { PersonKey } from '../../analytics/persons/person.ts'
import type { KnownSender } from '../../events/collector/senders/senders.ts'
import type { WallClock } from '../compile/values.ts'

/** What a user-agent names. */
export type RunnerSender = Pick<KnownSender, 'deviceType' | 'os' | 'browser'>

/** What one run is given, by an address or a preview alike. */
export interface RunRequest {
  /** Parameters of the address by name; a repeated one has all its values. */
  readonly parameters: ReadonlyMap<string, readonly string[]>
  readonly person: PersonKey
  /** By which groups and variants are assigned: the client, else the device. */
  readonly unit: string
  /** The device, also of a client without one. */
  readonly tmpId: string
  /** `lang_COUNTRY`. */
  readonly locale: string | undefined
  readonly sender: RunnerSender
  readonly mailClient: string
  readonly page: string
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: number
  readonly clock: WallClock
}
