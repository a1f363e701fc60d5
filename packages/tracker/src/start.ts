import { attempt } from './attempt.ts'
import type { Track, TrackerOptions } from './track.ts'
import { createTracker } from './tracker.ts'

type Call = readonly [name: 'event' | 'identify' | 'consent' | 'ready', args: never[]]

declare global {
  interface Window {
    /** What a page has put in place of the tracker until it is there; the tracker itself where the script comes again. */
    track?: Partial<Track> & { q?: Call[] | { push(call: Call): void } }
  }
}

const present = window.track ?? {}
if (!present.ready) {
  const address = new URL((document.currentScript as HTMLScriptElement).src)
  const track = createTracker(
    Object.fromEntries(address.searchParams) as unknown as TrackerOptions,
    new URL('.', address),
  )
  const push = (call: Call) =>
    attempt(() => (track[call[0]] as (...args: never[]) => void)(...call[1]), console.warn)
  const queue = present.q as Call[] | undefined
  // The same object: a page may have kept it, and functions of it, from before.
  window.track = Object.assign(present, track, { q: { push } })
  queue?.map(push)
}
