import { type Clock, monotonicClock } from '../../../../platform/clock.ts'
import { hashSecret } from '../../../../platform/crypto/secrets.ts'
import type { Principal } from '../principal.ts'
import type { Access } from './access-store.ts'

interface Entry {
  readonly found: Promise<Access | undefined>
  /** On the monotonic clock. */
  endsAt: number
}

/** Counted from before the store is asked, so that an answer is never used a whole second after it was true. */
const lifetimeMs = 800

const maxEntries = 10_000

export type AccessCache = ReturnType<typeof createAccessCache>

/**
 * Caches what a token gives. That a revocation holds on every process within a second rests on the lifetime of an
 * entry alone; notices only make it sooner (`forget`). A token ends when the database said it would, not with its
 * entry.
 */
export function createAccessCache(
  findAccess: (tokenHash: Buffer) => Promise<Access | undefined>,
  clock: Clock = monotonicClock,
) {
  const entries = new Map<string, Entry>()

  function ask(key: string, tokenHash: Buffer): Entry {
    if (entries.size >= maxEntries) entries.clear()
    const asked = clock.now()
    const entry: Entry = { found: findAccess(tokenHash), endsAt: asked + lifetimeMs }
    entries.set(key, entry)
    const drop = () => {
      if (entries.get(key) === entry) entries.delete(key)
    }
    entry.found.then((access) => {
      if (access) entry.endsAt = Math.min(entry.endsAt, asked + access.remainingMs)
      else drop()
    }, drop)
    return entry
  }

  return {
    /** Requests that come while the store is asked about their token wait for that one answer. */
    async find(token: string): Promise<Principal | undefined> {
      const tokenHash = hashSecret(token)
      const key = tokenHash.toString('latin1')
      const known = entries.get(key)
      const entry = known && clock.now() < known.endsAt ? known : ask(key, tokenHash)
      return (await entry.found)?.principal
    },

    /** Everything is asked again from now on. */
    forget(): void {
      entries.clear()
    },
  }
}
