import { discoveryRates } from '../../../platform/distributions/discovery-rates.ts'

/** P-values of one family of comparisons, corrected for their number. */
export interface Correction {
  /** In the order given; null stays null. */
  readonly pValues: readonly (number | null)[]
  /** Rate of error for each of the intervals that together keep the rate of the family. */
  readonly intervalAlpha: number
}

/**
 * Holm (1979, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6): the
 * chance of any false alarm among all comparisons is at most alpha, whatever their dependence. The intervals are
 * Bonferroni's, which hold together; they are a little wider than the p-values would need.
 */
export function correctByHolm(pValues: readonly (number | null)[], alpha: number): Correction {
  const adjusted = inOrder(pValues, (ascending, family) => {
    let highest = 0
    return ascending.map((pValue, at) => {
      highest = Math.max(highest, Math.min(1, (family - at) * pValue))
      return highest
    })
  })
  return { pValues: adjusted, intervalAlpha: alpha / Math.max(1, pValues.length) }
}

/**
 * Benjamini and Hochberg (1995, doi:10.1111/j.2517-6161.1995.tb02031.x): of the alarms that are raised, at most the
 * share alpha is false in the mean. The intervals keep the same promise (Benjamini and Yekutieli 2005,
 * doi:10.1198/016214504000001907), and one leaves 0 out exactly when its corrected p-value is at most alpha.
 */
export function correctByBenjaminiHochberg(pValues: readonly (number | null)[], alpha: number): Correction {
  // A comparison without a p-value counts as one that shows nothing.
  const rates = discoveryRates(
    pValues.map((pValue) => pValue ?? 1),
    pValues.length,
  )
  const adjusted = pValues.map((pValue, at) => (pValue === null ? null : (rates[at] ?? null)))
  const alarms = adjusted.filter((pValue) => pValue !== null && pValue <= alpha).length
  return { pValues: adjusted, intervalAlpha: (alpha * Math.max(1, alarms)) / Math.max(1, pValues.length) }
}

/**
 * Hands the p-values over in ascending order and puts the answers back into theirs. A comparison without a p-value
 * counts in the family as one that shows nothing: the family is fixed before there are data.
 */
function inOrder(
  pValues: readonly (number | null)[],
  adjust: (ascending: readonly number[], family: number) => readonly number[],
): (number | null)[] {
  const order = pValues.map((pValue, at) => ({ pValue: pValue ?? 1, at }))
  order.sort((left, right) => left.pValue - right.pValue)
  const adjusted = adjust(
    order.map(({ pValue }) => pValue),
    pValues.length,
  )
  const back = new Map(order.map(({ at }, rank) => [at, adjusted[rank] ?? null]))
  return pValues.map((pValue, at) => (pValue === null ? null : (back.get(at) ?? null)))
}
