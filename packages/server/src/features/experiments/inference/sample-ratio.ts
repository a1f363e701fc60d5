import { chiSquareSurvival } from '../../../platform/distributions/chi-square.ts'

/** Below it the shares of units are taken for broken (Fabijan et al. 2019, doi:10.1145/3292500.3330722). */
export const sampleRatioThreshold = 0.001
/** The chi-square distribution fits from this many expected units in each variant on (Cochran 1954). */
const minExpected = 5

export interface SampleRatio {
  /** Of the chi-square test of units against allocations; null with too few units for it. */
  readonly pValue: number | null
  /** False below 0.001; null as the p-value. */
  readonly holds: boolean | null
}

/**
 * Whether the exposed units spread over the variants as they were to: where they do not, something loses units of one
 * variant rather than of another, and no figure of the experiment can be relied on.
 */
export function checkSampleRatio(
  variants: readonly { readonly allocation: number; readonly units: number }[],
): SampleRatio {
  const units = variants.reduce((sum, variant) => sum + variant.units, 0)
  const allocated = variants.reduce((sum, { allocation }) => sum + allocation, 0)
  const expected = variants.map(({ allocation }) => (units * allocation) / allocated)
  if (variants.length < 2 || !expected.every((each) => each >= minExpected))
    return { pValue: null, holds: null }
  const chiSquare = variants.reduce(
    (sum, variant, at) => sum + (variant.units - (expected[at] ?? 0)) ** 2 / (expected[at] ?? 0),
    0,
  )
  const pValue = chiSquareSurvival(chiSquare, variants.length - 1)
  return { pValue, holds: pValue >= sampleRatioThreshold }
}
