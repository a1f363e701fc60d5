import type { ChildSpec } from './child.ts'

interface ProbeListener {
  /** @param failed failures in a row; 0 after an answer */
  onResult(failed: number, error?: unknown): void
  onHung(): void
}

/** Asks the child again and again whether it serves, until it fails too often in a row or the result is called. */
export function watchProbe(probe: ChildSpec['probe'], listener: ProbeListener): () => void {
  if (probe === undefined) return () => {}
  const ended = new AbortController()
  let failed = 0
  let timer: NodeJS.Timeout

  async function ask(): Promise<void> {
    const { run, withinMs, failures, everyMs, againMs = everyMs } = probe as NonNullable<ChildSpec['probe']>
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(withinMs)])
    try {
      await Promise.race([
        run(signal),
        new Promise<never>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        ),
      ])
      failed = 0
      if (!ended.signal.aborted) listener.onResult(0)
    } catch (error) {
      if (ended.signal.aborted) return
      failed += 1
      listener.onResult(failed, error)
      if (failed >= failures) {
        ended.abort()
        listener.onHung()
      }
    }
    if (!ended.signal.aborted) timer = setTimeout(() => void ask(), failed > 0 ? againMs : everyMs)
  }

  timer = setTimeout(() => void ask(), probe.everyMs)
  return () => {
    ended.abort()
    clearTimeout(timer)
  }
}
