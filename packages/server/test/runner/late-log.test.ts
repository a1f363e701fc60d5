import { afterEach, expect, test, vi } from 'vitest'
import { createRunnerWorld, jsonZone, runnerTemplate, straight } from '../support/runner.ts'

afterEach(() => {
  vi.useRealTimers()
})

const request = {
  shortId: 'abcdef1234',
  query: {},
  userAgent: undefined,
  referer: undefined,
  accept: undefined,
  address: '127.0.0.1',
  counts: true,
}

test('a display is answered within 3 s though its event does not reach the disk, and counts as lost', async () => {
  const written = Promise.withResolvers<void>()
  let appends = 0
  const world = createRunnerWorld({
    // The second is on disk late, but in time.
    record: () => (++appends === 2 ? written.promise : new Promise(() => {})),
  })
  await world.publish({
    definition: straight(jsonZone, { type: 'json', templateId: runnerTemplate }),
    templates: { [runnerTemplate]: { definition: { a: { type: 'static', value: 1 } }, variables: [] } },
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const answers: string[] = []
  const ask = async (name: string) => {
    const { reply } = await world.runner.answer(request)
    expect(reply.status).toBe(200)
    answers.push(name)
  }
  const asked = [ask('first'), ask('second')]
  await vi.advanceTimersByTimeAsync(1_500)
  asked.push(ask('third'))
  expect(answers).toEqual([])
  written.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(answers).toEqual(['second'])
  await vi.advanceTimersByTimeAsync(1_500)
  expect(answers).toEqual(['second', 'first'])
  await vi.advanceTimersByTimeAsync(1_500)
  await Promise.all(asked)
  expect(answers).toEqual(['second', 'first', 'third'])
  expect(world.runner.totals.lost).toBe(2)
})
