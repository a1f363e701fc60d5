import type { Track, TrackerOptions } from './track.ts'
import { createTracker as create } from './tracker.ts'

export type { Track, TrackerOptions } from './track.ts'

/** A tracker of the page it runs on. It never throws: what it refuses it names on the console. */
export function createTracker(options: TrackerOptions): Track {
  return create(options, `${options.collector}`.replace(/\/*$/, '/'))
}
