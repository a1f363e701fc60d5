/**
 * Settles as the work does, unless the signal aborts first. The work goes on either way.
 * @param onAbort called when the signal ends the wait
 * @throws the signal's reason when it aborts
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  onAbort?: () => void,
): Promise<T> {
  if (!signal) return work
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => {
    onAbort?.()
    reject(signal.reason)
  }
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
