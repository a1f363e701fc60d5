import { hash } from 'node:crypto'
import type { Logger } from '../../../platform/logger.ts'
import { type ChannelWatchOptions, watchChannel } from '../../../platform/stores/channel-watch.ts'
import type { ErasureStore } from './erasure-store.ts'
import type { Person } from './person-rows-store.ts'

/** Enough of a hash for none to meet another. */
const digestLength = 22

type Kind = 'client' | 'device' | 'anonymous'

/** The salt is the company's own, so that a hash tells nothing to who does not have it. */
const digestOf = (salt: string, kind: Kind, identifier: string): string =>
  hash('sha256', `${salt}\0${kind}\0${identifier}`, 'base64url').slice(0, digestLength)

/** By these hashes the events of a person are known again. */
export function digestsOf(
  { clientIds, tmpIds, anonymous }: Pick<Person, 'clientIds' | 'tmpIds' | 'anonymous'>,
  salt: string,
): string[] {
  return [
    ...clientIds.map((id) => digestOf(salt, 'client', id)),
    ...tmpIds.map((id) => digestOf(salt, 'device', id)),
    ...anonymous.map((id) => digestOf(salt, 'anonymous', id)),
  ]
}

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
export async function watchErasedPersons({ store, pool, log }: ErasedPersonsOptions) {
  let refused: ReadonlyMap<string, { readonly salt: string; readonly digests: ReadonlySet<string> }> =
    new Map()
  let change = Promise.withResolvers<void>()

  async function refresh(): Promise<void> {
    const companies = await store.listRefused()
    refused = new Map(
      companies.map(({ companyId, salt, digests }) => [companyId, { salt, digests: new Set(digests) }]),
    )
  }

  await refresh()
  const watch = watchChannel({
    pool,
    channel: 'person_erasures',
    onNotice() {
      change.resolve()
      change = Promise.withResolvers<void>()
      refresh().catch((error: unknown) => log.warn({ err: error }, 'which persons are erased is not read'))
    },
    log,
  })
  return {
    /** Whether events of a sender are refused; undefined for companies that have erased nobody. */
    testOf(companyId: string): ((sender: EventSender) => boolean) | undefined {
      const found = refused.get(companyId)
      if (!found) return undefined
      const { salt, digests } = found
      const has = (kind: Kind, identifier: string) => digests.has(digestOf(salt, kind, identifier))
      return ({ tmpId, clientId }) =>
        has('device', tmpId) || (clientId === '' ? has('anonymous', tmpId) : has('client', clientId))
    },
    /** Reads them now. */
    refresh,
    /** Resolves at the next change. */
    changed: (): Promise<void> => change.promise,
    close: watch.close,
  }
}
