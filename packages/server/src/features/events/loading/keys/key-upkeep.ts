import type { Clock } from '../../../../platform/clock.ts'
import type { Logger } from '../../../../platform/logger.ts'
import { duplicateWindowMs } from '../loader-store.ts'
import type { KeyStore } from './key-store.ts'

const dayMs = 24 * 3_600 * 1_000
const everyMs = 3_600 * 1_000
/** Beyond the window, for clocks that were set back. */
const marginMs = 2 * dayMs

/**
 * Forgets keys that events can no longer meet: their week ended longer than the window before what is being loaded
 * now, and before the present. The clock alone does not decide, because events may wait in the log for weeks.
 */
export function createKeyUpkeep({
  store,
  clock,
  logger,
}: {
  store: Pick<KeyStore, 'listKeyWeeks' | 'dropKeyWeek'>
  clock: Clock
  logger: Logger
}) {
  let next = 0

  return {
    /**
     * Never fails: what is left over is forgotten the next time.
     * @returns whether anything was forgotten
     */
    async run(received: { readonly earliest: number } | undefined): Promise<boolean> {
      const now = clock.now()
      if (received === undefined || now < next) return false
      next = now + everyMs
      const keepFrom = Math.min(received.earliest, now) - duplicateWindowMs - marginMs
      let isForgotten = false
      try {
        for (const monday of await store.listKeyWeeks()) {
          if (Date.parse(`${monday}T00:00:00Z`) + 7 * dayMs >= keepFrom) continue
          await store.dropKeyWeek(monday)
          isForgotten = true
        }
      } catch (error) {
        logger.warn({ err: error }, 'old event keys are not forgotten')
      }
      return isForgotten
    },
  }
}
