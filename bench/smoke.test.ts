import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const missing = ['wrk', 'luajit'].filter((program) => spawnSync(program, ['-v']).error !== undefined)
const absent =
  missing.length === 0
    ? undefined
    : `${missing.join(' and ')} not installed (Debian: apt-get install wrk luajit)`

/** Small enough to say only that a benchmark runs to its end; its figures mean nothing. */
const runs: [name: string, ...options: string[]][] = [
  ['collector', '--seconds', '1', '--rounds', '1'],
  ['statistics', '--events', '100000', '--orders', '0.01,0.02', '--rounds', '1', '--settle', '0'],
  ['large-answers', '--seconds', '1', '--rows', '2000', '--settle', '0'],
  ['start', '--rounds', '1', '--minutes', '0', '--settle', '0'],
  ['loading', '0.001', '1', '2000'],
  ['event-log', '0.2'],
  ['event-rules'],
  ['sign-in', '--seconds', '1', '--rounds', '1', '--people', '10'],
]

test.for(runs)(
  'the benchmark %s runs and prints its table',
  { timeout: 120_000 },
  async ([name, ...options], context) => {
    if (absent) context.skip(absent)
    const script = new URL('./run.ts', import.meta.url).pathname
    const { stdout } = await promisify(execFile)(process.execPath, [script, name, ...options])
    expect(stdout).toMatch(/\| what \| figure \| ratio \| target \||\(index\)/)
    expect(stdout).not.toMatch(/NaN|undefined/)
  },
)
