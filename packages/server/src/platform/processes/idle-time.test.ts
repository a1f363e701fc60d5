import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism, getPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { createStarvationWatch, enterIdleTime } from './idle-time.ts'

const started: ChildProcess[] = []

afterEach(() => {
  for (const each of started.splice(0)) each.kill('SIGKILL')
})

/** Starts the script and waits until it runs, its threads with it. */
async function run(script: string): Promise<number> {
  const child = spawn(process.execPath, ['-e', `console.log('up'); ${script}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  started.push(child)
  await once(child.stdout, 'data')
  return child.pid as number
}

const computing = 'for (;;);'

/** Programs that leave next to nothing to the idle class on these cores, also where tests run with a low priority. */
const crowdOf = (cores: number): number => cores * Math.ceil(1.25 ** getPriority() / 5)

test('every thread of the process is in the idle class', async ({ skip }) => {
  const pid = await run('setInterval(() => {}, 1000)')
  if (!(await enterIdleTime(pid))) return skip('there is no idle class here, or no chrt (Debian: util-linux)')
  const lines = execFileSync('chrt', ['--all-tasks', '--pid', String(pid)], { encoding: 'utf8' })
  const policies = [...lines.matchAll(/policy: (\w+)/g)].map((match) => match[1])
  expect(policies.length).toBeGreaterThan(1)
  expect(new Set(policies)).toEqual(new Set(['SCHED_IDLE']))
})

test('a process that does not exist enters nothing', async () => {
  expect(await enterIdleTime(2 ** 30)).toBe(false)
})

test('only who wants a core and gets none starves', async ({ skip }) => {
  const resting = await run('setInterval(() => {}, 1000)')
  const starving = await run(computing)
  if (!(await enterIdleTime(starving)))
    return skip('there is no idle class here, or no chrt (Debian: util-linux)')
  const watchResting = createStarvationWatch()
  const watchStarving = createStarvationWatch()
  expect([watchResting(resting), watchStarving(starving)]).toEqual([false, false])
  await sleep(1000)
  expect(watchResting(resting)).toBe(false)
  for (let crowd = crowdOf(availableParallelism()); crowd > 0; crowd--) await run(computing)
  await expect.poll(() => watchStarving(starving), { interval: 1000 }).toBe(true)
  expect(watchResting(resting)).toBe(false)
  for (const each of started.splice(2)) each.kill('SIGKILL')
  await expect.poll(() => watchStarving(starving), { interval: 1000 }).toBe(false)
})
