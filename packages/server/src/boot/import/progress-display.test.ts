import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createProgressDisplay, type ProgressState } from './progress-display.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function shownTo(terminal: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  const display = createProgressDisplay({ ...terminal, write: (text) => written.push(text) })
  return { display, last: () => written.at(-1) ?? '' }
}

const state = (fields: Partial<ProgressState> = {}): ProgressState => ({
  bytesRead: 0,
  size: 1_000,
  acknowledged: 0,
  expected: undefined,
  isReadingAhead: false,
  ...fields,
})

test('a terminal has a bar that is painted over, with rate and remaining time', async () => {
  const { display, last } = shownTo({ isTTY: true, columns: 100 })
  display.update(state({ bytesRead: 250, isReadingAhead: true }))
  expect(last().startsWith('\r\u001b[2K')).toBe(true)
  expect(last()).toMatch(/\[#{6}-{18}\] 25 % {2}read/)
  vi.advanceTimersByTime(110)
  display.update(state({ bytesRead: 1_000, expected: 2_000, acknowledged: 0 }))
  expect(last()).toMatch(/\[-{24}\] 0 % {2}0 events/)
  vi.advanceTimersByTime(110)
  display.update(state({ bytesRead: 1_000, expected: 2_000, acknowledged: 1_000 }))
  const [, rate = '', left = ''] =
    /\[#{12}-{12}\] 50 % {2}1,000 events {2}([\d,]+)\/s {2}(\d+) s left$/.exec(last()) ?? []
  // Half of it took what the other half will take, give or take the rounding.
  expect(Math.abs(Number(left) - 1_000 / Number(rate.replaceAll(',', '')))).toBeLessThan(1)
  display.end()
  expect(last()).toBe('\n')
})

test('a narrow terminal is not overflowed', () => {
  const { display, last } = shownTo({ isTTY: true, columns: 30 })
  display.update(state({ bytesRead: 500, acknowledged: 123_456 }))
  expect(last().replace('\r\u001b[2K', '')).toHaveLength(29)
})

test('elsewhere there are plain lines, and of a pipe no share', () => {
  const file = shownTo({})
  file.display.update(state({ bytesRead: 500, acknowledged: 10 }))
  expect(file.last()).toMatch(/^50 % {2}10 events {2}[\d,]+\/s {2}0 s left\n$/)
  const pipe = shownTo({})
  pipe.display.update(state({ size: undefined, bytesRead: 500, acknowledged: 10 }))
  expect(pipe.last()).toMatch(/^10 events {2}[\d,]+\/s\n$/)
})
