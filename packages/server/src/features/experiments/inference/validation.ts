import type { SampleRatio } from './sample-ratio.ts'

/** What decided whether a result stands. */
export type ValidationReason =
  | 'planned_sample'
  | 'always_valid_bound'
  | 'too_early'
  | 'sample_ratio'
  | 'too_few_units'

export interface Validation {
  readonly validated: boolean
  readonly reason: ValidationReason
}

/**
 * A result stands when the units came to the variants as they were to, and either all planned units were counted or
 * the always-valid test of a success metric has reached its bound. A result that stands may well be that nothing
 * was found.
 * @param alwaysValidPValues of the success metrics, corrected for their number
 */
export function validate({
  sampleRatio,
  plannedSample,
  units,
  alwaysValidPValues,
  alpha,
}: {
  readonly sampleRatio: SampleRatio
  readonly plannedSample: number | null
  readonly units: number
  readonly alwaysValidPValues: readonly (number | null)[]
  readonly alpha: number
}): Validation {
  if (sampleRatio.holds === null) return { validated: false, reason: 'too_few_units' }
  if (!sampleRatio.holds) return { validated: false, reason: 'sample_ratio' }
  if (plannedSample !== null && units >= plannedSample) return { validated: true, reason: 'planned_sample' }
  const reached = alwaysValidPValues.some((pValue) => pValue !== null && pValue <= alpha)
  return { validated: reached, reason: reached ? 'always_valid_bound' : 'too_early' }
}
