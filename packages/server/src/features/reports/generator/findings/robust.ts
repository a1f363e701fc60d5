import { studentSurvival } from '../../../../platform/distributions/student.ts'

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

/** By it the mean of absolute deviations estimates the standard deviation of normal values: √(π / 2). */
const meanConsistency = Math.sqrt(Math.PI / 2)

/** The share of its level by which every bucket is taken to vary at least: smaller differences matter to no reader. */
export const minVariation = 0.01

/**
 * A robust deviation that is never 0: that of the median, where more than half of the values are equal that of the mean
 * of absolute deviations, and never less than `least`.
 */
export function robustScale(values: readonly number[], least: number): number {
  const center = median(values)
  const deviations = values.map((value) => Math.abs(value - center))
  const deviation = normalConsistency * median(deviations) || meanConsistency * mean(deviations)
  return Math.max(deviation, least)
}

/** By how much one bucket of a level varies at least: a count as Poisson's law lets it, by the root of its level. */
export function leastDeviation(level: number, isCount: boolean): number {
  const size = Math.abs(level)
  return Math.max(isCount ? Math.sqrt(Math.max(1, size)) : 0, minVariation * size, Number.MIN_VALUE)
}

/** A scale as it is above 0, and mirrored below: what was paid back is as far away as what was paid. */
export function mirrored(scale: (value: number) => number): (value: number) => number {
  return (value) => (value < 0 ? 2 * scale(0) - scale(-value) : scale(value))
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

/**
 * The probability that a value of Student's distribution lies further from 0 than `t`, on either side; 1 where the data
 * give no `t` or no degrees of freedom.
 */
export function twoSided(t: number, degrees: number): number {
  const pValue = 2 * studentSurvival(Math.abs(t), degrees)
  return Number.isNaN(pValue) ? 1 : pValue
}
