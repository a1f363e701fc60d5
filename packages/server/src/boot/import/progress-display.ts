const barWidth = 24
const repaintMilliseconds = 100
const lineMilliseconds = 5_000

export interface ProgressState {
  readonly bytesRead: number
  readonly size: number | undefined
  readonly acknowledged: number
  /** All events there will be, where that is known: then they measure the progress, not the bytes read. */
  readonly expected: number | undefined
  /** Nothing can be sent yet: lines are being gathered into events until the input ends. */
  readonly isReadingAhead: boolean
}

export const grouped = (value: number): string => Math.round(value).toLocaleString('en-US')

/** `1 h 02 min`, `3 min 20 s`, `12 s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [h, min, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60]
  if (h > 0) return `${h} h ${String(min).padStart(2, '0')} min`
  return min > 0 ? `${min} min ${String(s).padStart(2, '0')} s` : `${s} s`
}

/**
 * Shows how far an import is: one line that is painted over on a terminal, a plain line every few seconds
 * elsewhere. A pipe has no known end, so it shows no share and no remaining time.
 */
export function createProgressDisplay(output: {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}) {
  let started = performance.now()
  let shownAt = Number.NEGATIVE_INFINITY
  let notedAt = Number.NEGATIVE_INFINITY
  let last: ProgressState = {
    bytesRead: 0,
    size: undefined,
    acknowledged: 0,
    expected: undefined,
    isReadingAhead: false,
  }

  const line = (): string => {
    const seconds = (performance.now() - started) / 1000
    const rate = last.acknowledged / Math.max(seconds, 0.001)
    const done = last.isReadingAhead ? 'read' : `${grouped(last.acknowledged)} events  ${grouped(rate)}/s`
    const [part, whole] =
      last.expected === undefined ? [last.bytesRead, last.size] : [last.acknowledged, last.expected]
    if (!whole) return done
    const share = Math.min(1, part / whole)
    const filled = Math.round(share * barWidth)
    const bar = output.isTTY ? `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ` : ''
    const left = share > 0.01 && share < 1 ? `  ${formatDuration((seconds / share) * (1 - share))} left` : ''
    return `${bar}${Math.floor(share * 100)} %  ${done}${left}`
  }
  const show = (): void => {
    if (output.isTTY) output.write(`\r\u001b[2K${line().slice(0, (output.columns ?? 80) - 1)}`)
    else output.write(`${line()}\n`)
  }
  return {
    update(state: ProgressState): void {
      const now = performance.now()
      // Rate and remaining time are those of sending, which begins now.
      if (last.isReadingAhead && !state.isReadingAhead) started = now
      last = state
      if (now - shownAt < (output.isTTY ? repaintMilliseconds : lineMilliseconds)) return
      shownAt = now
      show()
    },
    /** A message next to the progress, such as why a request is retried; the same one is not repeated for a while. */
    note(text: string): void {
      const now = performance.now()
      if (now - notedAt < lineMilliseconds) return
      notedAt = now
      output.write(output.isTTY ? `\r\u001b[2K${text}\n` : `${text}\n`)
    },
    end(): void {
      show()
      if (output.isTTY) output.write('\n')
    },
  }
}
