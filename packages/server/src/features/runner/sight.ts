import type { Clock } from '../../platform/clock.ts'
import { putBounded } from './bounded-map.ts'
import type { ListSeenDatasources, Sight, Viewer } from './ports.ts'

/** For how long what teams see is taken for the present state, and when it is asked for again. */
const freshMs = 800
const renewalMs = 400

interface Entry {
  sight: Sight | undefined
  /** When what is known was asked for, or could last not be had. */
  checkedAt: number
  renewal: Promise<Sight> | undefined
}

export interface SightCacheOptions {
  readonly listSeenDatasources: ListSeenDatasources
  readonly clock: Clock
  /** Companies and sets of teams that are remembered; default 1,000. */
  readonly capacity?: number
}

/**
 * What the teams of workflows see, so that a run waits for the database only where nothing like it ran within the last
 * moments. While the database is down, what was last known stands.
 */
export function createSightCache({ listSeenDatasources, clock, capacity = 1_000 }: SightCacheOptions) {
  const known = new Map<string, Entry>()

  async function renew(entry: Entry, viewer: Viewer): Promise<Sight> {
    const askedAt = clock.now()
    try {
      entry.sight = new Set(await listSeenDatasources(viewer))
      entry.checkedAt = askedAt
      return entry.sight
    } catch (error) {
      entry.checkedAt = clock.now()
      if (entry.sight === undefined) throw error
      return entry.sight
    } finally {
      entry.renewal = undefined
    }
  }

  return {
    /** At once where it is known. @throws (rejects) where the database fails and it is not */
    find(viewer: Viewer): Sight | Promise<Sight> {
      const key = `${viewer.companyId} ${viewer.teamIds.join(' ')}`
      let entry = known.get(key)
      if (entry === undefined) {
        entry = { sight: undefined, checkedAt: 0, renewal: undefined }
        putBounded(known, key, entry, capacity)
      }
      const { sight } = entry
      const age = Math.abs(clock.now() - entry.checkedAt)
      if (sight !== undefined && age < renewalMs) return sight
      entry.renewal ??= renew(entry, viewer)
      return sight !== undefined && age < freshMs ? sight : entry.renewal
    },
  }
}
