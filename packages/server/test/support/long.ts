import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { TestContext } from 'vitest'

/**
 * The share of the full length that tests have. 0, the default, is a short form of each, the same in every run. 1 is
 * all of it, 10 ten times as many kills and cases; of less than 1 the seed chooses which, and the short form is there
 * too.
 */
const share = Number(process.env.MILLRACE_TEST_LONG ?? 0)

/** Whether no part of the full length runs. */
export const isShort = share === 0

/**
 * Of cases that are generated, and of the part of the full length that runs: the days since 1970, unless
 * MILLRACE_TEST_SEED repeats another run. In the short form it is always the same.
 */
export const seed = Number(
  process.env.MILLRACE_TEST_SEED ?? (isShort ? 1 : Math.floor(Date.now() / 86_400_000)),
)

/** Whether the seed chooses the one at this place; each comes once in as many days as there are parts. */
const isChosen = (place: number): boolean =>
  share >= 1 || (share > 0 && (place + seed) % Math.round(1 / share) === 0)

/** Whether what has this name, or this file, runs in full length. */
export const isFull = (name: string): boolean =>
  isChosen(createHash('sha256').update(basename(name)).digest().readUInt16BE())

/** How often something is tried: `short` times, or as much of `full` times as tests have of the full length. */
export const times = (full: number, short: number): number => Math.max(short, Math.ceil(full * share))

/** So many of the cases, spread over the list, and those that run of the full length. */
export function spread<T>(cases: readonly T[], short: number): readonly T[] {
  const every = Math.ceil(cases.length / short)
  return cases.filter((_, i) => i % every === 0 || isChosen(i))
}

/** The first case of each kind, and those that run of the full length. */
export function oneOfEach<T>(cases: readonly T[], kindOf: (one: T) => unknown): readonly T[] {
  const first = new Map(cases.toReversed().map((one) => [kindOf(one), one]))
  return cases.filter((one, i) => first.get(kindOf(one)) === one || isChosen(i))
}

/** Leaves a test out unless it is one of those that run in full length, which the closing summary says. */
export function inFullLengthOnly({ skip, task }: Pick<TestContext, 'skip' | 'task'>): void {
  if (!isFull(task.name)) skip('not run here: runs in full length only (npm run test:long)')
}
