import type { Clock } from '../clock.ts'

/** So long after a request more are expected. */
const inUseMs = 30_000

/** Whether the interface has requests: what is done for their answers alone may wait until then. */
export interface InterfaceUse {
  /** Of a request whose answer may rest on loaded events. */
  note(): void
  isNow(): boolean
}

/** @param clock of ages; the start counts as use */
export function watchInterfaceUse(clock: Clock): InterfaceUse {
  let usedAt = clock.now()
  return {
    note() {
      usedAt = clock.now()
    },
    isNow: () => clock.now() - usedAt < inUseMs,
  }
}
