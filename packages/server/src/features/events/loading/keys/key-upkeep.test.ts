import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../platform/logger.ts'
import { createKeyUpkeep } from './key-upkeep.ts'

const weeks = ['2026-09-28', '2026-10-05', '2026-10-12', '2026-10-19']

const upkeepAt = (now: string) => {
  const dropped: string[] = []
  const store = {
    listKeyWeeks: async () => weeks.filter((week) => !dropped.includes(week)),
    dropKeyWeek: async (week: string) => void dropped.push(week),
  }
  const clock = { now: () => Date.parse(now) }
  return { dropped, upkeep: createKeyUpkeep({ store, clock, logger: silentLogger }) }
}

describe('event keys', () => {
  it('are forgotten once their week ended 9 days before what is loaded', async () => {
    const { dropped, upkeep } = upkeepAt('2026-10-21T00:00:01Z')
    await upkeep.run({ earliest: Date.parse('2026-10-21T00:00:01Z') })
    expect(dropped).toEqual(['2026-09-28', '2026-10-05'])
  })

  it('are kept one moment longer than that', async () => {
    const { dropped, upkeep } = upkeepAt('2026-10-21T00:00:00Z')
    await upkeep.run({ earliest: Date.parse('2026-10-21T00:00:00Z') })
    expect(dropped).toEqual(['2026-09-28'])
  })

  it('are kept while events of their time still wait in the log', async () => {
    const { dropped, upkeep } = upkeepAt('2026-12-01T00:00:00Z')
    await upkeep.run({ earliest: Date.parse('2026-10-06T00:00:00Z') })
    expect(dropped).toEqual([])
  })

  it('are kept when events claim to come from the future', async () => {
    const { dropped, upkeep } = upkeepAt('2026-10-06T00:00:00Z')
    await upkeep.run({ earliest: Date.parse('2027-10-06T00:00:00Z') })
    expect(dropped).toEqual([])
  })

  it('that cannot be forgotten now are no reason to fail', async () => {
    const store = {
      listKeyWeeks: () => Promise.reject(new Error('not now')),
      dropKeyWeek: async () => {},
    }
    const clock = { now: () => Date.parse('2026-10-21') }
    const upkeep = createKeyUpkeep({ store, clock, logger: silentLogger })
    await expect(upkeep.run({ earliest: Date.parse('2026-10-21') })).resolves.toBe(false)
  })
})
