import { createLoadingCache } from '../../../../platform/cache/loading-cache.ts'
import { type Clock, monotonicClock } from '../../../../platform/clock.ts'
import { hashSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { createSemaphore, SemaphoreFull } from '../../../../platform/limits/semaphore.ts'
import { holdersOf } from '../../../../platform/network-address.ts'
import type { Principal } from '../principal.ts'
import type { Access } from './access-store.ts'

/** In the order of the hashes. */
type FindAccess = (tokenHashes: readonly Buffer[]) => Promise<readonly (Access | undefined)[]>

interface Asked {
  readonly tokenHash: Buffer
  readonly address: string
}

/** Counted from before the store is asked, so that an answer is never used a whole second after it was true. */
const lifetimeMs = 800
/** Tokens of which nothing is known: those that are asked about at once, and those that wait. */
const unknownAtOnce = 200
const unknownWaiting = 1_000
const statementsAtOnce = 4
const tokensOfStatement = 500

export type AccessCache = ReturnType<typeof createAccessCache>

/** Tokens that come while all statements run are asked about together by the next one. */
function createBatches(findAccess: FindAccess) {
  let waiting: ({ readonly tokenHash: Buffer } & PromiseWithResolvers<Access | undefined>)[] = []
  let running = 0

  async function run(): Promise<void> {
    running++
    const batch = waiting.slice(0, tokensOfStatement)
    waiting = waiting.slice(tokensOfStatement)
    try {
      const found = await findAccess(batch.map(({ tokenHash }) => tokenHash))
      for (const [place, { resolve }] of batch.entries()) resolve(found[place])
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      running--
    }
    if (waiting.length > 0) void run()
  }

  return (tokenHash: Buffer): Promise<Access | undefined> => {
    const asked = Promise.withResolvers<Access | undefined>()
    waiting.push({ tokenHash, ...asked })
    if (running < statementsAtOnce) void run()
    return asked.promise
  }
}

/**
 * Caches what a token gives. That a revocation holds on every process within a second rests on the lifetime of an
 * entry alone; notices only make it sooner (`forget`). A token ends when the database said it would, not with its
 * entry. Tokens of which nothing is known take turns by network and address, so that made-up ones neither fill the
 * database nor keep the tokens of others from it.
 */
export function createAccessCache(findAccess: FindAccess, clock: Clock = monotonicClock) {
  const ask = createBatches(findAccess)
  const unknown = createSemaphore(unknownAtOnce, unknownWaiting)

  async function askUnknown({ tokenHash, address }: Asked): Promise<Access | undefined> {
    try {
      return await unknown.run(() => ask(tokenHash), holdersOf(address))
    } catch (error) {
      if (!(error instanceof SemaphoreFull)) throw error
      throw new DomainError('unavailable', { retryAfter: 1 }, { cause: error, retryAfterSeconds: 1 })
    }
  }

  const cache = createLoadingCache<Asked, Access | undefined>({
    load: (asked, former) => (former ? ask(asked.tokenHash) : askUnknown(asked)),
    keyOf: ({ tokenHash }) => tokenHash.toString('latin1'),
    clock,
    freshMs: ({ remainingMs }) => Math.min(lifetimeMs, remainingMs),
    absentMs: lifetimeMs,
  })

  return {
    /** Requests that come while the store is asked about their token wait for that one answer. */
    async find(token: string, address = ''): Promise<Principal | undefined> {
      return (await cache.find({ tokenHash: hashSecret(token), address }))?.principal
    },

    /** Everything is asked again from now on. */
    forget: () => cache.invalidate(),
  }
}
