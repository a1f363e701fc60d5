import { expect, test } from 'vitest'
import { silentLogger } from '../logger.ts'
import { watchValue } from './watched-value.ts'

const pool = { connect: () => Promise.reject(new Error('no notices')) } as never

test('a reading that began earlier never replaces a later one', async () => {
  const readings: ((value: string) => void)[] = []
  const read = () => new Promise<string>((resolve) => readings.push(resolve))
  const opening = watchValue({ pool, channel: 'x', what: 'the value', log: silentLogger, read })
  readings[0]?.('first')
  const watched = await opening
  const changed = watched.changed(new AbortController().signal)
  const refreshes = [watched.refresh(), watched.refresh()]
  await Promise.resolve()
  // The second begins once the first has ended.
  expect(readings).toHaveLength(2)
  readings[1]?.('second')
  await refreshes[0]
  await changed
  expect(watched.value()).toBe('second')
  expect(readings).toHaveLength(3)
  readings[2]?.('third')
  await refreshes[1]
  expect(watched.value()).toBe('third')
  await watched.close()
})

test('a failed reading leaves what was known, and the next one goes on', async () => {
  let value: string | undefined = 'known'
  const read = async () => value ?? Promise.reject(new Error('away'))
  const watched = await watchValue({ pool, channel: 'x', what: 'the value', log: silentLogger, read })
  value = undefined
  await expect(watched.refresh()).rejects.toThrow('away')
  expect(watched.value()).toBe('known')
  value = 'new'
  await watched.refresh()
  expect(watched.value()).toBe('new')
  await watched.changed(AbortSignal.abort())
  await watched.close()
})
