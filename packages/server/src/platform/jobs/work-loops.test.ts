import { expect, test } from 'vitest'
import { RelationalTimeout, RelationalUnavailable } from '../stores/relational-errors.ts'
import { createWorkLoops } from './work-loops.ts'

test.each([
  ['a store that is away', new RelationalUnavailable(new Error('connection refused')), 'warn'],
  ['a store that is slow', new RelationalTimeout(new Error('canceled')), 'warn'],
  ['a fault of ours', new TypeError('undefined is not a function'), 'error'],
  ['a statement that the store refuses', new Error('column "x" does not exist'), 'error'],
])('%s is logged as what it is, with the name of the loop', async (_what, failure, level) => {
  const logged: unknown[][] = []
  const first = Promise.withResolvers<void>()
  const note = (of: string) => (fields: object, message: string) => {
    logged.push([of, fields, message])
    first.resolve()
  }
  const run = () => Promise.reject(failure)
  const loops = createWorkLoops([{ name: 'runs', run, everyMs: 1 }], {
    warn: note('warn'),
    error: note('error'),
  } as never)
  loops.start()
  await first.promise
  await loops.stop()
  const message = level === 'warn' ? 'runs wait: a store does not answer' : 'runs failed, and are tried again'
  expect(logged).toEqual([[level, { err: failure, work: 'runs' }, message]])
})

test('what ends because the service stops is no failure', async () => {
  const logged: unknown[] = []
  const note = (fields: unknown) => void logged.push(fields)
  const run = (stopping: AbortSignal) =>
    new Promise<boolean>((_, reject) => stopping.addEventListener('abort', () => reject(stopping.reason)))
  const loops = createWorkLoops([{ name: 'runs', run, everyMs: 1 }], { warn: note, error: note } as never)
  loops.start()
  await loops.stop()
  expect(logged).toEqual([])
})
