/** Arithmetic mean; not a number for none. */
export function mean(values: readonly number[]): number {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}

/** The middle value, of an even number the mean of the two in the middle; not a number for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (upper + lower) / 2
}

/** By it the median of absolute deviations estimates the standard deviation of normal values: 1 / Φ⁻¹(3/4). */
const normalConsistency = 1.4826

/**
 * A robust standard deviation: the median of absolute deviations from the median (Rousseeuw and Croux 1993, "Alternatives
 * to the median absolute deviation", JASA 88), to the scale of normal values.
 */
export function robustDeviation(values: readonly number[]): number {
  const center = median(values)
  return normalConsistency * median(values.map((value) => Math.abs(value - center)))
}

/**
 * Degrees of freedom of a robust deviation of n values: the median of absolute deviations has 37 % of the efficiency of
 * the standard deviation (same source), so it knows as much as a standard deviation of 37 % of the values.
 */
export function robustDegrees(n: number): number {
  return Math.max(2, 0.37 * (n - 1))
}

/** Lag-1 autocorrelation of values around their mean, between -1 and 1; 0 where they are constant. */
export function autocorrelation(values: readonly number[]): number {
  const center = mean(values)
  let products = 0
  let squares = 0
  values.forEach((value, i) => {
    squares += (value - center) ** 2
    const before = values[i - 1]
    if (before !== undefined) products += (value - center) * (before - center)
  })
  return squares === 0 ? 0 : products / squares
}

/**
 * How many times as large the variance of a mean is when values depend on the one before them as in an autoregression:
 * (1 + ρ) / (1 - ρ) (Zwiers and von Storch 1995, "Taking serial correlation into account in tests of the mean", Journal
 * of Climate 8). Its estimate is raised by its bias of 1 / n, and never speaks for a smaller variance.
 */
export function varianceInflation(residuals: readonly number[]): number {
  const n = residuals.length
  const raw = autocorrelation(residuals)
  // Below two standard errors of an uncorrelated series it is noise.
  if (raw + 1 / n < 1.64 / Math.sqrt(n)) return 1
  const rho = Math.min(0.9, raw + (1 + 3 * raw) / n)
  return (1 + rho) / (1 - rho)
}
