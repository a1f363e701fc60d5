import type { Logger } from '../../../platform/logger.ts'
import type { ChannelWatchOptions } from '../../../platform/stores/channel-watch.ts'
import { watchValue } from '../../../platform/stores/watched-value.ts'
import type { ErasureStore } from './erasure-store.ts'
import { digestOf, type Kind } from './person-digests.ts'

/** Who sent an event. */
export interface EventSender {
  readonly tmpId: string
  /** Empty when absent. */
  readonly clientId: string
}

export type ErasedPersons = Awaited<ReturnType<typeof watchErasedPersons>>

export interface ErasedPersonsOptions {
  readonly store: Pick<ErasureStore, 'listRefused'>
  readonly pool: ChannelWatchOptions['pool']
  readonly log: Pick<Logger, 'debug' | 'warn'>
}

/** Keeps in memory of whom no event is taken, as the database tells of it; resolves once it is known. */
export async function watchErasedPersons({ store, ...options }: ErasedPersonsOptions) {
  const { value: refused, ...watched } = await watchValue({
    ...options,
    channel: 'person_erasures',
    what: 'the list of erased persons',
    async read() {
      const companies = await store.listRefused()
      return new Map(
        companies.map(({ companyId, salt, digests }) => [companyId, { salt, digests: new Set(digests) }]),
      )
    },
  })
  return {
    ...watched,
    /** Whether events of a sender are refused; undefined where a company refuses none. */
    testOf(companyId: string): ((sender: EventSender) => boolean) | undefined {
      const found = refused().get(companyId)
      if (!found) return undefined
      const { salt, digests } = found
      const has = (kind: Kind, identifier: string) => digests.has(digestOf(salt, kind, identifier))
      return ({ tmpId, clientId }) =>
        has('device', tmpId) || (clientId === '' ? has('anonymous', tmpId) : has('client', clientId))
    },
    /** Reads them again where there are any: the time of some may be over. */
    async forgetExpired(): Promise<void> {
      if (refused().size > 0) await watched.refresh()
    },
  }
}
