import type { CollectorService } from './collector-service.ts'

/** Events per second from which queries leave a core to the collector, and over how long it is taken. */
const busyRate = 1_000
const busyWindowMs = 500

/** Watches until the signal ends. @returns whether many events arrive at this moment */
export function watchIngest(
  { totals }: Pick<CollectorService, 'totals'>,
  ending: AbortSignal,
): () => boolean {
  let kept = 0
  let busy = false
  const timer = setInterval(() => {
    busy = ((totals.kept - kept) * 1000) / busyWindowMs > busyRate
    kept = totals.kept
  }, busyWindowMs).unref()
  ending.addEventListener('abort', () => clearInterval(timer))
  return () => busy
}
