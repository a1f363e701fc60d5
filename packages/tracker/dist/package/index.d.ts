import type { Track, TrackerOptions } from './track.js';
export type { Track, TrackerOptions } from './track.js';
/** A tracker of the page it runs on. It never throws: what it refuses it names on the console. */
export declare function createTracker(options: TrackerOptions): Track;
