import { setTimeout as sleep } from 'node:timers/promises'

/** As long as a test may take (`testTimeout`): only so that what has failed does not look on for ever. */
const endMs = 300_000

/** Looks again and again until there is something other than `false` or `undefined`, and gives it. */
export async function until<T>(
  look: () => T | Promise<T>,
  everyMs = 10,
): Promise<Exclude<Awaited<T>, false | undefined>> {
  const end = performance.now() + endMs
  for (;;) {
    const found = await look()
    if (found !== false && found !== undefined) return found as Exclude<Awaited<T>, false | undefined>
    if (performance.now() > end) throw new Error(`it does not become true: ${look}`)
    await sleep(everyMs)
  }
}
