export interface Part {
  readonly label: string
  readonly value: number
  /** All that have no part of their own. */
  readonly isRest?: boolean
}

/** Parts that can be told apart; what is beyond is one part. */
export const maxParts = 8

/** The greatest parts first, the others together as the last; undefined where a part is below nothing. */
export function partsOf(values: readonly Part[], rest: string): readonly Part[] | undefined {
  if (values.some(({ value }) => value < 0)) return undefined
  const sorted = values.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value)
  if (sorted.length <= maxParts) return sorted
  const value = sorted.slice(maxParts - 1).reduce((sum, each) => sum + each.value, 0)
  return [...sorted.slice(0, maxParts - 1), { label: rest, value, isRest: true }]
}

/** The outline of a part of a ring around the middle, from one share of the round to another. */
export function arc(from: number, to: number, outer: number, inner: number): string {
  // The whole round has no end that differs from its begin: it is drawn up to just before.
  const end = to - from >= 1 ? from + 0.99999 : to
  const at = (share: number, radius: number) => {
    const angle = 2 * Math.PI * share
    return `${(Math.sin(angle) * radius).toFixed(2)} ${(-Math.cos(angle) * radius).toFixed(2)}`
  }
  const large = end - from > 0.5 ? 1 : 0
  return [
    `M${at(from, outer)}`,
    `A${outer} ${outer} 0 ${large} 1 ${at(end, outer)}`,
    `L${at(end, inner)}`,
    `A${inner} ${inner} 0 ${large} 0 ${at(from, inner)}`,
    'Z',
  ].join('')
}
