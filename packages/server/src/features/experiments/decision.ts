import type { ExperimentOutcome } from '@millrace/contract/resources/experiment.ts'
import { finite } from './inference/lift.ts'
import type { MeasuredExperiment } from './measured-experiment.ts'

/** What results say of the success metric of one variant against the baseline. */
interface MeasuredVariant
  extends Required<Pick<ExperimentOutcome, 'validated' | 'confidence' | 'pValue' | 'lift'>> {
  readonly variantId: string
}

export interface MeasuredResults {
  /** Without the baseline. */
  readonly variants: readonly MeasuredVariant[]
}

export type ReadResults = (
  experiment: MeasuredExperiment,
  asked: { readonly userId: string; readonly signal: AbortSignal },
) => Promise<MeasuredResults>

/**
 * The numbers that a decision keeps; NaN and infinities are no JSON (docs/faults.md, X02).
 * @param variantId undefined for the variant with the smallest p-value
 */
export function numbersOf({ variants }: MeasuredResults, variantId: string | undefined) {
  const rank = ({ pValue }: MeasuredVariant) => pValue ?? Number.POSITIVE_INFINITY
  const best = variants.toSorted((a, b) => rank(a) - rank(b))[0]
  const found = variantId === undefined ? best : variants.find((each) => each.variantId === variantId)
  const { validated = false, confidence = null, pValue = null, lift } = found ?? {}
  const { estimate = null, low = null, high = null } = lift ?? {}
  return {
    validated,
    confidence: known(confidence),
    pValue: known(pValue),
    lift: { estimate: known(estimate), low: known(low), high: known(high) },
  }
}

const known = (value: number | null): number | null => (value === null ? null : finite(value))
