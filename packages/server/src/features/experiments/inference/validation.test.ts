import { describe, expect, it } from 'vitest'
import { checkSampleRatio } from './sample-ratio.ts'
import { validate } from './validation.ts'

const fair = { pValue: 0.4, holds: true }

function reasonOf(more: Partial<Parameters<typeof validate>[0]>) {
  const { validated, reason } = validate({
    sampleRatio: fair,
    plannedSample: 1_000,
    units: 500,
    alwaysValidPValues: [],
    alpha: 0.05,
    ...more,
  })
  expect(validated).toBe(reason === 'planned_sample' || reason === 'always_valid_bound')
  return reason
}

describe('a result stands', () => {
  it('from the planned sample on', () => {
    expect(reasonOf({ units: 999 })).toBe('too_early')
    expect(reasonOf({ units: 1_000 })).toBe('planned_sample')
  })

  it('from the always-valid bound on, of any success metric', () => {
    expect(reasonOf({ alwaysValidPValues: [null, 0.051, 1] })).toBe('too_early')
    expect(reasonOf({ alwaysValidPValues: [null, 0.05, 1] })).toBe('always_valid_bound')
    expect(reasonOf({ alwaysValidPValues: [0.02], alpha: 0.01 })).toBe('too_early')
  })

  it('by the bound alone without a planned sample', () => {
    expect(reasonOf({ plannedSample: null, units: 1e9 })).toBe('too_early')
    expect(reasonOf({ plannedSample: null, alwaysValidPValues: [0.01] })).toBe('always_valid_bound')
  })

  it('never against the sample ratio, and never before there are units to check it', () => {
    const reached = { units: 1_000, alwaysValidPValues: [0.001] }
    expect(reasonOf({ ...reached, sampleRatio: { pValue: 0.0009, holds: false } })).toBe('sample_ratio')
    expect(reasonOf({ ...reached, sampleRatio: { pValue: null, holds: null } })).toBe('too_few_units')
  })
})

describe('the sample ratio', () => {
  const check = (...units: number[]) =>
    checkSampleRatio(units.map((each) => ({ allocation: 1 / units.length, units: each })))

  it('holds until the shares are as unlikely as one in a thousand', () => {
    expect(check(5_164, 4_836)).toMatchObject({ holds: true })
    expect(check(5_165, 4_835)).toMatchObject({ holds: false })
    expect(check(5_000, 5_000)).toEqual({ pValue: 1, holds: true })
  })

  it('is not checked with fewer than five expected units in a variant', () => {
    expect(check(9, 0)).toEqual({ pValue: null, holds: null })
    expect(check(10, 0).pValue).toBeLessThan(0.01)
    expect(check(0, 0)).toEqual({ pValue: null, holds: null })
    expect(
      checkSampleRatio([
        { allocation: 0.001, units: 4 },
        { allocation: 0.999, units: 3_000 },
      ]),
    ).toEqual({ pValue: null, holds: null })
  })

  it('is not checked where nothing is shared', () => {
    expect(check(100)).toEqual({ pValue: null, holds: null })
    expect(checkSampleRatio([])).toEqual({ pValue: null, holds: null })
  })
})
