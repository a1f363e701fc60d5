/**
 * A terminal or a service manager signals npm and this process, and npm forwards what it got: signals so close are one
 * request that arrives twice.
 */
const oneRequestMs = 1_000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Listens for what asks this process to stop, from now on.
 * @param parentEnded a request too, but none to hurry
 * @param first called once, with the cause
 * @param again called when a signal arrives that is another request
 */
export function onStopRequest(
  parentEnded: AbortSignal,
  first: (what: NodeJS.Signals | 'the parent process has ended') => void,
  again: () => void,
): void {
  let askedAt: number | undefined
  const ask = (what: Parameters<typeof first>[0]): void => {
    if (askedAt !== undefined) return
    askedAt = performance.now()
    first(what)
  }
  for (const signal of signals) {
    process.on(signal, () => {
      if (askedAt !== undefined && performance.now() - askedAt > oneRequestMs) again()
      else ask(signal)
    })
  }
  parentEnded.addEventListener('abort', () => ask('the parent process has ended'))
}
