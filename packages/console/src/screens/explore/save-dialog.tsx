import type { Query } from './query-state.ts'

export function SaveQuery(_: { readonly query: Query; readonly title: string }) {
  return null
}
