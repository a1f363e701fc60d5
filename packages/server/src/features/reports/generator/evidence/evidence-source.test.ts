import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import { expect, test } from 'vitest'
import type { RunQuery } from '../../evidence/evidence-runner.ts'
import { createEvidenceSource } from './evidence-source.ts'

const queryBy = (dimension: string): Query => ({
  measures: ['sessions.count'],
  dimensions: [dimension],
  filters: [],
  timeDimensions: [],
})

const evidenceOf = (query: Query, id: string) =>
  ({ id, query, state: 'success', rowCount: 1, payloadBytes: 10 }) as Evidence

test('what one statement cannot answer is run by itself, and what is stored is not run again', async () => {
  const ran: string[] = []
  const runQuery: RunQuery = Object.assign(
    async (query: Query) => {
      ran.push(query.dimensions.join())
      return evidenceOf(query, 'alone')
    },
    {
      together: async (queries: readonly Query[]) => {
        ran.push(queries.flatMap(({ dimensions }) => dimensions).join('+'))
        return queries.map((query) => (query.dimensions[0] === 'c' ? undefined : evidenceOf(query, 'shared')))
      },
    },
  )
  const kept: Evidence[] = []
  const source = createEvidenceSource(
    runQuery,
    {
      companyId: 'company',
      readerId: null,
      signal: new AbortController().signal,
      onProgress: () => {},
      kept: [evidenceOf(queryBy('d'), 'stored')],
      keep: async (evidence) => void kept.push(evidence),
    },
    4,
  )
  const found = await source.askTogether(['a', 'b', 'c', 'd'].map(queryBy))
  expect(found.map((each) => each?.id)).toEqual(['shared', 'shared', 'alone', 'stored'])
  expect(ran).toEqual(['a+b+c', 'c'])
  expect(kept).toHaveLength(3)
  expect(source.usage).toMatchObject({ queryCount: 3, rowCount: 3 })
  await source.askTogether([queryBy('a'), queryBy('b')])
  expect(ran).toHaveLength(2)
})
