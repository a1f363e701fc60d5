import type { CollectorDatasource } from './datasource-cache.ts'
import { detachString } from './detach-string.ts'

/** Names of events that one datasource is expected to have at most; a name is a kind of event, not a value. */
export const expectedNames = 2_000
/** Names that are remembered in all; beyond it all are forgotten, and counting starts again. */
const rememberedNames = 50_000
/** Between two notes about one datasource. */
const noteEveryMs = 3_600_000

interface Names {
  readonly seen: Set<string>
  notedAt: number | undefined
}

/**
 * Detects a datasource that uses event names as values, such as `view_8271`: everything is stored, but a million
 * names are no choice for a user, and they make every query slower. Counted since the process started.
 */
export class NameGuard {
  readonly #names = new Map<string, Names>()
  #remembered = 0

  /** @returns whether this event is worth a note in the datasource log */
  see(datasource: CollectorDatasource, name: string, now: number): boolean {
    let names = this.#names.get(datasource.id)
    if (names?.seen.has(name)) return false
    if (this.#remembered >= rememberedNames) {
      this.#names.clear()
      this.#remembered = 0
      names = undefined
    }
    if (names === undefined) {
      names = { seen: new Set(), notedAt: undefined }
      this.#names.set(datasource.id, names)
    }
    if (names.seen.size < expectedNames) {
      names.seen.add(detachString(name))
      this.#remembered += 1
      return false
    }
    if (names.notedAt !== undefined && now - names.notedAt < noteEveryMs) return false
    names.notedAt = now
    return true
  }
}
