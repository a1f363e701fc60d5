import { describe, expect, test } from 'vitest'
import { countsOfMinute, heard, maxEntries, noActivity, type Told, toldOf } from './activity.ts'

const start = Date.UTC(2026, 0, 15, 12)
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString()
const event = (seconds: number, outcome: 'accepted' | 'dropped' = 'accepted'): Told => [
  'activity',
  { at: at(seconds), outcome, name: 'view' },
]
const after = (...told: Told[]) => told.reduce(heard, noActivity)

describe('a live feed', () => {
  test('has the newest first, and so many', () => {
    const activity = after(...Array.from({ length: maxEntries + 5 }, (_, i) => event(i)))
    expect(activity.entries).toHaveLength(maxEntries)
    expect(activity.entries[0]).toMatchObject({ at: at(maxEntries + 4), key: maxEntries + 5 })
  })

  test('counts the last minute by outcome, with what is not shown', () => {
    const activity = after(event(0), event(30), event(30, 'dropped'), [
      'sampled',
      { from: at(30), shown: 2, seen: 100, share: 0.02, missed: { accepted: 90, bot: 8 } },
    ])
    const none = { accepted: 0, changed: 0, dropped: 0, bot: 0, refused: 0 }
    expect(countsOfMinute(activity, start + 59_000)).toEqual({ ...none, accepted: 92, dropped: 1, bot: 8 })
    expect(countsOfMinute(activity, start + 61_000)).toEqual({ ...none, accepted: 91, dropped: 1, bot: 8 })
    expect(countsOfMinute(activity, start + 200_000)).toEqual(none)
    expect(activity.share).toEqual({ second: start / 1_000 + 30, value: 0.02 })
  })

  test('remembers a minute and no more', () => {
    const activity = after(...Array.from({ length: 500 }, (_, i) => event(i)))
    expect(activity.seconds).toHaveLength(60)
  })

  test('leaves out what it does not know', () => {
    expect(toldOf({ event: 'skipped', data: '{"count":3}' })).toEqual(['skipped', { count: 3 }])
    expect(toldOf({ event: 'later', data: '{}' })).toBeUndefined()
    expect(toldOf({ event: 'activity', data: '{' })).toBeUndefined()
    expect(after(['skipped', { count: 3 }], ['skipped', { count: 4 }]).skipped).toBe(7)
  })
})
