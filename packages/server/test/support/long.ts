import type { TestContext } from 'vitest'

/** How many times the full length tests have; 0, the default, is a short form of each. */
const length = Number(process.env.MILLRACE_TEST_LONG ?? 0)

/**
 * Whether tests run in full length, as CI runs them (MILLRACE_TEST_LONG=1): every kill, every time zone, every screen.
 * Otherwise each runs in a shorter form, so that all of them can be run all day.
 */
export const long = length > 0

/** How often something is tried: `short` times, or `full` times where tests are long, and more by MILLRACE_TEST_LONG=10. */
export function times(full: number, short: number): number {
  return long ? full * length : short
}

/** All cases where tests are long, otherwise so many of them, spread over the list. */
export function spread<T>(cases: readonly T[], short: number): readonly T[] {
  const every = long ? 1 : Math.ceil(cases.length / short)
  return cases.filter((_, i) => i % every === 0)
}

/** All cases where tests are long, otherwise the first of each kind. */
export function oneOfEach<T>(cases: readonly T[], kindOf: (one: T) => unknown): readonly T[] {
  if (long) return cases
  const first = new Map(cases.toReversed().map((one) => [kindOf(one), one]))
  return cases.filter((one) => first.get(kindOf(one)) === one)
}

/** Leaves a test out of the short form, which the closing summary says. */
export function inFullLengthOnly({ skip }: Pick<TestContext, 'skip'>): void {
  if (!long) skip('not run here: runs in full length only (MILLRACE_TEST_LONG=1)')
}
