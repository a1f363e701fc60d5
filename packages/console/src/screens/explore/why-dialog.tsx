import type { Query } from './query-state.ts'

export function WhyDialog(_: { readonly query: Query; readonly onClose: () => void }) {
  return null
}
