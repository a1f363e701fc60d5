import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { inIdleTime } from './idle-time.ts'

test('the command runs in the idle class, under the pid that was spawned', async ({ skip }) => {
  const idle = inIdleTime(process.execPath, ['-e', 'console.log(process.pid); process.stdin.resume()'])
  if (idle === undefined) return skip('there is no idle class here, or no chrt (Debian: util-linux)')
  const child = spawn(idle.command, idle.args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  expect(Number(line.toString())).toBe(child.pid)
  expect(execFileSync('chrt', ['--pid', String(child.pid)], { encoding: 'utf8' })).toContain('SCHED_IDLE')
  child.stdin.end()
  expect(await once(child, 'exit')).toEqual([0, null])
})
