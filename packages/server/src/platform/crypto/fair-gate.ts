import { GateFull } from './gate.ts'

/** Whom a piece of work counts for, from the widest to the narrowest, such as a network and an address of it. */
export type Holders = readonly string[]

export interface FairGate {
  /**
   * Runs the work when a place is free: first that of holders of whom the least runs, then of those whose last turn
   * is longest ago, then in order of arrival.
   * @throws GateFull at once when the waiting room is full and no holder has more of it than these, or later when
   *   the place is given to the work of a holder that had less
   */
  run<T>(work: () => Promise<T>, holders?: Holders): Promise<T>
  /** How many run and how many wait at this moment. */
  load(): { readonly running: number; readonly waiting: number }
}

interface Waiter {
  readonly holders: Holders
  readonly start: () => void
  readonly refuse: (reason: GateFull) => void
}

type Counts = Map<string, number>

function add(counts: Counts, holders: Holders, number: 1 | -1): void {
  for (const holder of new Set(holders)) {
    const count = (counts.get(holder) ?? 0) + number
    if (count > 0) counts.set(holder, count)
    else counts.delete(holder)
  }
}

/** By the widest holders first. */
function compare(counts: Counts, one: Holders, other: Holders): number {
  for (const [level, holder] of one.entries()) {
    const difference = (counts.get(holder) ?? 0) - (counts.get(other[level] ?? '') ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Made once: when many are refused, an error with its stack for each would be work of its own. */
const full = new GateFull()

/**
 * A gate that one holder cannot fill: it may take every place while no other comes, but gives waiting places up to
 * those who have fewer, and its work takes turns with theirs.
 */
export function createFairGate(places: number, waitingPlaces: number): FairGate {
  const waiting: Waiter[] = []
  const runningOf: Counts = new Map()
  /** Running and waiting together. */
  const heldOf: Counts = new Map()
  /** The number of the last turn of holders who have something here. */
  const turnOf: Counts = new Map()
  let turns = 0
  let running = 0

  function countRunning(holders: Holders): void {
    add(runningOf, holders, 1)
    turns++
    for (const holder of holders) turnOf.set(holder, turns)
  }

  function countGone(holders: Holders): void {
    add(heldOf, holders, -1)
    for (const holder of holders) if (!heldOf.has(holder)) turnOf.delete(holder)
  }

  function isBefore(one: Waiter, other: Waiter): boolean {
    const byRunning = compare(runningOf, one.holders, other.holders)
    return byRunning === 0 ? compare(turnOf, one.holders, other.holders) < 0 : byRunning < 0
  }

  /** The newest waiting work of the holders with the most, if it leaves them no worse off than the newcomer. */
  function takePlaceFor(newcomer: Holders): void {
    let victim: Waiter | undefined
    for (const waiter of waiting)
      if (victim === undefined || compare(heldOf, waiter.holders, victim.holders) >= 0) victim = waiter
    const level = victim?.holders.findIndex((holder, index) => holder !== newcomer[index]) ?? -1
    if (victim === undefined || level < 0) throw full
    const held = (holders: Holders) => heldOf.get(holders[level] ?? '') ?? 0
    if (newcomer[level] === undefined || held(victim.holders) <= held(newcomer) + 1) throw full
    waiting.splice(waiting.indexOf(victim), 1)
    countGone(victim.holders)
    victim.refuse(full)
  }

  function enter(holders: Holders): Promise<void> {
    if (running >= places && waiting.length >= waitingPlaces) takePlaceFor(holders)
    add(heldOf, holders, 1)
    if (running < places) {
      running++
      countRunning(holders)
      return Promise.resolve()
    }
    return new Promise((start, refuse) => waiting.push({ holders, start, refuse }))
  }

  function leave(holders: Holders): void {
    add(runningOf, holders, -1)
    countGone(holders)
    let next = waiting[0]
    for (const waiter of waiting) if (next !== undefined && isBefore(waiter, next)) next = waiter
    if (next === undefined) {
      running--
      return
    }
    waiting.splice(waiting.indexOf(next), 1)
    countRunning(next.holders)
    next.start()
  }

  return {
    async run(work, holders = []) {
      await enter(holders)
      try {
        return await work()
      } finally {
        leave(holders)
      }
    },
    load: () => ({ running, waiting: waiting.length }),
  }
}
