import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { identify, isAlive } from './identity.ts'

test('a process has one identity as long as it lives and none afterwards', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  const identity = identify(child.pid ?? 0)
  expect(identity).toEqual(identify(child.pid ?? 0))
  if (identity === undefined) throw new Error('it does not run')
  expect(isAlive(identity)).toBe(true)
  expect(isAlive({ ...identity, started: 'another boot/1' })).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isAlive(identity)).toBe(false)
})

test('a pid that no process can have has no identity', () => {
  for (const pid of [0, -1, Number.NaN, 1.5, 2 ** 40]) expect(identify(pid)).toBeUndefined()
})
