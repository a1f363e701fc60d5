import type { MetadataReading } from '../config/config-store.ts'

const minute = 60_000
const day = 86_400_000
/** Readings of many companies spread over so much of a day, however they began. */
const spread = 2 * 60 * minute

/** When metadata that was read now is read again. */
export function nextReadingAfter(now: number, random: () => number = Math.random): Date {
  return new Date(now + day - spread / 2 + random() * spread)
}

/** When it is tried again after so many failures: 15 minutes, twice as long each time, a day at the most. */
export function nextTryAfter(now: number, failures: number, random: () => number = Math.random): Date {
  const wait = Math.min(day, 15 * minute * 2 ** Math.min(failures - 1, 10))
  return new Date(now + wait * (0.9 + 0.2 * random()))
}

/** How the reading stands when metadata has just been taken; pasted metadata is not read again. */
export function readingOf(url: string | null, now: number): MetadataReading {
  return {
    metadataReadAt: url === null ? null : new Date(now),
    metadataNextAt: url === null ? null : nextReadingAfter(now),
    metadataError: null,
    metadataFailures: 0,
    metadataNotifiedAt: null,
  }
}
