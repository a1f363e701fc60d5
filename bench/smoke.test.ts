import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { inFullLengthOnly } from '../packages/server/test/support/long.ts'

const missing = ['wrk', 'luajit'].filter((program) => spawnSync(program, ['-v']).error !== undefined)
const absent =
  missing.length === 0
    ? undefined
    : `${missing.join(' and ')} not installed (Debian: apt-get install wrk luajit)`

type Run = readonly [name: string, ...options: string[]]

/** Small enough to say only that a benchmark runs to its end; its figures mean nothing. */
const quickRuns: readonly Run[] = [
  ['loading', '0.001', '1', '2000'],
  ['event-log', '0.2'],
  ['analyzer', '--megabytes', '1', '--formats', 'csv', '--rounds', '1'],
]
/** Those that start whole services or take as long. */
const longRuns: readonly Run[] = [
  ['event-rules'],
  ['collector', '--seconds', '1', '--rounds', '1'],
  ['statistics', '--events', '100000', '--orders', '0.01,0.02', '--rounds', '1', '--settle', '0'],
  ['explorations', '--events', '100000', '--rounds', '1', '--settle', '0'],
  ['year', '--events', '100000', '--rounds', '1', '--settle', '0'],
  ['life', '--events', '20000', '--rate', '100', '--seconds', '3', '--settle', '0'],
  ['experiments', '--events', '100000', '--rounds', '1', '--settle', '0'],
  ['analyses', '--events', '20000', '--settle', '0'],
  ['large-answers', '--seconds', '1', '--rows', '2000', '--settle', '0'],
  ['start', '--rounds', '1', '--minutes', '0', '--settle', '0', '--idle', '1'],
  ['schedules', '--seconds', '1', '--schedules', '3', '--events', '1000'],
  ['reports', '--reports', '200', '--rounds', '1'],
  ['workflows', '--nodes', '20', '--rounds', '2'],
  ['runner', '--seconds', '1', '--rounds', '1', '--rate', '50'],
  ['datasources', '--rows', '5000', '--lookups', '50', '--seconds', '1'],
  ['sender', '--events', '5000', '--rounds', '1'],
  ['sign-in', '--seconds', '1', '--rounds', '1', '--people', '10'],
  ['console', '--events', '20000', '--rounds', '1', '--changes', '10', '--pause', '0'],
]

test.for([...quickRuns, ...longRuns])(
  'the benchmark %s runs and prints its table',
  async ([name, ...options], context) => {
    if (absent) context.skip(absent)
    if (longRuns.some((run) => run[0] === name)) inFullLengthOnly(context)
    const script = new URL('./run.ts', import.meta.url).pathname
    const { stdout } = await promisify(execFile)(process.execPath, [script, name, ...options])
    expect(stdout).toMatch(/\| what \| figure \| ratio \| target \||\(index\)/)
    expect(stdout).not.toMatch(/NaN|undefined/)
  },
)
