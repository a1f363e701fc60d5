import type { Logger } from '../../../platform/logger.ts'
import type { ChannelWatchOptions } from '../../../platform/stores/channel-watch.ts'
import { watchValue } from '../../../platform/stores/watched-value.ts'
import type { ErasureStore } from './erasure-store.ts'
import type { RefusedPersons } from './refused-persons.ts'

export type ErasedPersons = Awaited<ReturnType<typeof watchErasedPersons>>

export interface ErasedPersonsOptions {
  readonly store: Pick<ErasureStore, 'listRefused' | 'forgetExpired'>
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
      return new Map<string, RefusedPersons>(
        companies.map(({ companyId, salt, digests }) => [companyId, { salt, digests: new Set(digests) }]),
      )
    },
  })
  return {
    ...watched,
    /** Undefined where a company takes the events of all; the same object until something changes. */
    refusedBy: (companyId: string): RefusedPersons | undefined => refused().get(companyId),
    /** Forgets those whose time is over; nothing changes where there are none. */
    async forgetExpired(): Promise<void> {
      if (refused().size > 0) await store.forgetExpired()
    },
  }
}
