import { expect, test } from 'vitest'
import { createRecentAnswers } from './recent-answers.ts'

function open(maxBytes = 100_000) {
  const clock = { time: 0, now: () => clock.time }
  const answers = createRecentAnswers<string>({
    clock,
    freshMs: 2_000,
    maxBytes,
    bytesOf: (text) => text.length,
  })
  return { clock, answers }
}

test('gives an answer again until it is too old', () => {
  const { clock, answers } = open()
  answers.keep('a', 'one', 0)
  clock.time = 1_999
  expect(answers.find('a')).toBe('one')
  clock.time = 2_000
  expect(answers.find('a')).toBeUndefined()
})

test('counts from when the answer was asked for, not from when it came', () => {
  const { clock, answers } = open()
  clock.time = 1_500
  answers.keep('a', 'one', 0)
  clock.time = 2_100
  expect(answers.find('a')).toBeUndefined()
})

test('keeps no more bytes than allowed, and the newest', () => {
  const { answers } = open(10_000)
  for (let i = 0; i < 100; i++) answers.keep(`key-${i}`, 'x'.repeat(500), 0)
  expect(answers.bytes()).toBeLessThanOrEqual(10_000)
  expect(answers.find('key-99')).toBeDefined()
  expect(answers.find('key-0')).toBeUndefined()
  answers.keep('large', 'x'.repeat(5_000), 0)
  expect(answers.find('large')).toBeUndefined()
})

test('forgets what is out of date, so that idle answers take no memory', () => {
  const { clock, answers } = open()
  for (let i = 0; i < 50; i++) answers.keep(`key-${i}`, 'x', 0)
  const before = answers.bytes()
  clock.time = 5_000
  answers.keep('new', 'x', 5_000)
  expect(answers.bytes()).toBeLessThan(before / 10)
})
