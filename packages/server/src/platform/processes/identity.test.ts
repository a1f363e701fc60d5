import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { identify, isAlive, isRunning } from './identity.ts'

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

test('a process that was killed does nothing more, though the kernel still has to end it', async () => {
  for (let round = 0; round < 10; round++) {
    const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'])
    await once(child.stdout, 'data')
    const identity = identify(child.pid ?? 0)
    if (identity === undefined) throw new Error('it does not run')
    expect(isRunning(identity)).toBe(true)
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    expect(isRunning(identity)).toBe(false)
    await exited
    expect(isAlive(identity)).toBe(false)
  }
})

test('a zombie holds nothing', async () => {
  // `sleep` takes the place of the shell and never waits for a child.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'])
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer]
  await expect.poll(() => identify(Number(pid))).toBeUndefined()
  expect(() => process.kill(Number(pid), 0)).not.toThrow()
  parent.kill('SIGKILL')
})

test('a pid that no process can have has no identity', () => {
  for (const pid of [0, -1, Number.NaN, 1.5, 2 ** 40]) expect(identify(pid)).toBeUndefined()
})
