/**
 * The false discovery rate at which each of several tests is passed (Benjamini and Hochberg 1995, "Controlling the false
 * discovery rate", Journal of the Royal Statistical Society B 57). `tests` is how many there are, those that were not
 * carried out included; while nothing has changed at all, any test passes at rate q with probability q at most.
 */
export function discoveryRates(pValues: readonly number[], tests: number): number[] {
  const order = pValues.map((_, i) => i).sort((a, b) => (pValues[b] ?? 1) - (pValues[a] ?? 1))
  const rates = new Array<number>(pValues.length).fill(1)
  let least = 1
  order.forEach((index, descending) => {
    const rank = pValues.length - descending
    const pValue = pValues[index] ?? 1
    // Never below the p-value itself, where rounding would have it so.
    least = Math.min(least, Math.max(pValue, (pValue * Math.max(tests, pValues.length)) / rank))
    rates[index] = least
  })
  return rates
}
