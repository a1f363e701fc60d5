import type { Meta } from '../../data/format.ts'
import type { Query } from './query-state.ts'

export function QueryEditor(_: {
  readonly meta: Meta
  readonly query: Query
  readonly onAsk: (query: Query) => void
}) {
  return null
}
