import type { Query } from '@millrace/contract/resources/query.ts'
import { DomainError } from '../../platform/errors.ts'
import type { StatisticsService } from '../analytics/statistics-service.ts'
import type { FindValues, FoundValue } from './question-reader.ts'

/** For whom values are looked for: only those of the company's own facts that the reader sees are found. */
export interface ValueCaller {
  readonly companyId: string
  readonly readerId: string | null
  readonly signal?: AbortSignal
}

/** Values of one dimension that are read, the most frequent ones first. */
const maxValues = 1_000
/** Characters of a value for each of the longest text: accents may be characters of their own. */
const growth = 4

/**
 * Looks for values by queries, one after the other: the most frequent values of a dimension, whose accents the caller
 * compares, and where there are more of them those that begin with a text. A dimension that takes too long has none.
 */
export function createValueFinder({
  answer,
}: Pick<StatisticsService, 'answer'>): (caller: ValueCaller) => FindValues {
  async function valuesOf(member: string, query: Query, caller: ValueCaller): Promise<FoundValue[]> {
    let text = ''
    try {
      for await (const piece of answer({ ...caller, query, format: 'json' }).pieces) text += piece
    } catch (error) {
      const isTooMuch = error instanceof DomainError && ['timeout', 'tooComplex'].includes(error.errorName)
      if (isTooMuch && !caller.signal?.aborted) return []
      throw error
    }
    const rows = JSON.parse(text) as Record<string, unknown>[]
    return rows.map((row) => ({ member, value: String(row[member]) }))
  }

  return (caller) =>
    async ({ texts, members, range, timezone }) => {
      const found: FoundValue[] = []
      // Values come from events, which anybody can send: what is too long to be a text is not kept.
      const maxLength = growth * Math.max(...texts.map((text) => text.length))
      const keep = (values: readonly FoundValue[]) =>
        found.push(...values.filter(({ value }) => value.length <= maxLength))
      for (const member of members) {
        const source = member.slice(0, member.indexOf('.'))
        const query: Query = {
          measures: [`${source}.count`],
          dimensions: [member],
          filters: [{ member, operator: 'set' }],
          timeDimensions: [{ dimension: `${source}.time`, dateRange: [...range] }],
          timezone,
          order: [[`${source}.count`, 'desc']],
          limit: maxValues,
        }
        const frequent = await valuesOf(member, query, caller)
        keep(frequent)
        if (frequent.length === maxValues) {
          const filters = [{ member, operator: 'startsWith' as const, values: [...texts] }]
          keep(await valuesOf(member, { ...query, filters }, caller))
        }
      }
      return found
    }
}
