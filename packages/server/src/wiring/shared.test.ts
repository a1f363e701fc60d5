import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Statement } from '../platform/stores/columnar.ts'
import { type ServiceParts, shareParts } from './shared.ts'

test('a query has one thread of the engine while many events arrive', async () => {
  const threads: unknown[] = []
  let isIngesting = false
  const columnar = {
    async stream({ settings }: Statement) {
      threads.push(settings?.max_threads)
      return Readable.from(['[17]\n'])
    },
  }
  const parts = { columnar, relational: {}, overrides: {} }
  const { runStatement } = shareParts(parts as unknown as ServiceParts, () => isIngesting)
  const run = () =>
    runStatement(
      { companyId: 'c', userId: 'u', signal: new AbortController().signal },
      { sql: 'SELECT 17', params: {} },
    )
  expect(await run()).toEqual([[17]])
  isIngesting = true
  await run()
  expect(threads).toEqual([undefined, 1])
})
