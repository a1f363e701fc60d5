import { expect, test } from 'vitest'
import { createShownValues } from './shown-values.ts'

test('a short value is shown as JSON has it, a long one as the beginning of its JSON', () => {
  const show = createShownValues()
  const date = new Date('2026-01-15T12:00:00Z')
  expect(show({ a: [1, 'x', null], at: date, none: undefined })).toEqual({
    a: [1, 'x', null],
    at: date.toISOString(),
  })
  expect([show(undefined), show('x'), show(['x'.repeat(19_996)])]).toEqual([null, 'x', ['x'.repeat(19_996)]])
  for (const long of [
    '"'.repeat(30_000),
    Array(30_000).fill(7),
    ['x'.repeat(19_997)],
    Array(50).fill({ text: '\n'.repeat(900) }),
  ])
    expect(createShownValues()(long)).toBe(`${JSON.stringify(long).slice(0, 20_000)}…`)
})

test('W21: a preview reads of its values no more than it shows', () => {
  let read = 0
  const rows = Array.from({ length: 200 }, () => ({
    get text() {
      read++
      return 'x'.repeat(5_000)
    },
  }))
  const show = createShownValues()
  expect(show(rows)).toMatch(/^\[\{"text":"x{4996}/)
  expect(read).toBe(4)
  let shown = 0
  for (let step = 0; step < 500; step++) shown += String(show(rows)).length
  expect([shown < 700_000, read < 800]).toEqual([true, true])
})
