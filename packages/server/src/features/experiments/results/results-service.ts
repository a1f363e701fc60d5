import { experimentLimits } from '@millrace/contract/resources/experiment.ts'
import type {
  ExperimentPlan,
  ExperimentPlanRequest,
  ExperimentResults,
} from '@millrace/contract/resources/experiment-results.ts'
import { DomainError } from '../../../platform/errors.ts'
import { invalid } from '../../../platform/invalid.ts'
import type { MeasureExperiment } from '../../analytics/explorations/experiments/experiment-measure.ts'
import type { CountedWindows } from '../../analytics/explorations/experiments/measured-experiment.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import type { MeasuredResults, ReadResults } from '../decision.ts'
import { type PlanDesign, planSample } from '../inference/planner.ts'
import type { MeasuredExperiment } from '../measured-experiment.ts'
import { type AnalysedSample, analyseMeasurement } from './analyse-measurement.ts'

export interface ResultsDependencies {
  /** @throws {DomainError} `experimentNotFound` */
  readonly readMeasured: (principal: Principal, id: string) => Promise<MeasuredExperiment>
  readonly readResults: ReadExperimentResults
}

export interface ResultsService {
  /** @throws {DomainError} `experimentNotFound` and as `ReadExperimentResults` */
  read(
    principal: Principal,
    id: string,
    windows: CountedWindows,
    signal: AbortSignal,
  ): Promise<ExperimentResults>
  /** @throws {DomainError} `validation` */
  plan(request: ExperimentPlanRequest): ExperimentPlan
}

/** @throws {DomainError} `experimentNotStarted`, `tooComplex`, `tooManyRequests`, `timeout`, `unavailable` */
export type ReadExperimentResults = (
  experiment: MeasuredExperiment,
  asked: {
    readonly userId: string
    readonly windows: CountedWindows
    /** `all` when absent. */
    readonly sample?: AnalysedSample
    readonly signal: AbortSignal
  },
) => Promise<ExperimentResults>

export function createResultsReader(measure: MeasureExperiment): ReadExperimentResults {
  return async (experiment, { windows, sample = 'all', ...asked }) => {
    const { id, companyId, startedAt } = experiment
    if (startedAt === null) throw new DomainError('experimentNotStarted', { id })
    const started = { ...experiment, startedAt }
    const measured = await measure({ ...asked, companyId, experiment: started, windows })
    return analyseMeasurement(started, measured, { windows, sample })
  }
}

/**
 * The success metric of each variant as a decision keeps it, corrected for the number of comparisons: by the
 * fixed-horizon test over the planned sample alone where that was reached, else by the one that is right at any time.
 * The bound that another variant has reached validates no decision for this one.
 */
export function createDecisionReader(readResults: ReadExperimentResults): ReadResults {
  return async (experiment, asked): Promise<MeasuredResults> => {
    const { validated, validation, confidenceLevel, metrics } = await readResults(experiment, {
      ...asked,
      windows: 'complete',
      sample: 'planned',
    })
    const variants = metrics[0]?.variants ?? []
    return {
      variants: variants.flatMap(({ variantId, comparison }) => {
        if (!comparison) return []
        const { fixedHorizon, alwaysValid } = comparison
        const isPlanned = validation === 'planned_sample'
        const { lift, adjusted } = isPlanned ? fixedHorizon : alwaysValid
        const { pValue } = adjusted
        const confidence = pValue === null ? null : 1 - pValue
        const isReached = isPlanned || (pValue !== null && pValue <= 1 - confidenceLevel)
        return [
          {
            variantId,
            validated: validated && isReached,
            pValue,
            confidence,
            lift: { estimate: lift.estimate, ...adjusted.lift },
          },
        ]
      }),
    }
  }
}

export function createResultsService({ readMeasured, readResults }: ResultsDependencies): ResultsService {
  return {
    async read(principal, id, windows, signal) {
      const experiment = await readMeasured(principal, id)
      return readResults(experiment, { userId: principal.userId, windows, signal })
    },

    plan({ baseline, effect, allocations = [0.5, 0.5], power, alpha, dailyUnits }) {
      const faults: { path: string; message: string }[] = []
      if (effect === 0) faults.push({ path: 'effect', message: 'must not be 0: that needs no units to find' })
      const sum = allocations.reduce((total, each) => total + each, 0)
      if (Math.abs(sum - 1) > experimentLimits.allocationError) {
        faults.push({ path: 'allocations', message: `must add up to 1, and add up to ${sum}` })
      }
      if ('rate' in baseline && baseline.rate * (1 + effect) > 1) {
        const message = `brings the rate of ${baseline.rate} to ${baseline.rate * (1 + effect)}: it must not exceed 1`
        faults.push({ path: 'effect', message })
      }
      if (faults.length > 0) throw new DomainError('validation', { errors: faults })
      const design: PlanDesign = {
        baseline: 'rate' in baseline ? { kind: 'rate', ...baseline } : { kind: 'mean', ...baseline },
        allocations,
        ...(power === undefined ? {} : { power }),
        ...(alpha === undefined ? {} : { alpha }),
      }
      const { fixedHorizon, alwaysValid } = planSample(design, effect, dailyUnits ?? null)
      if (!Number.isSafeInteger(alwaysValid.units)) {
        throw invalid('effect', 'is so small beside the baseline that no number of units finds it')
      }
      return {
        fixedHorizon: { ...fixedHorizon, unitsByVariant: [...fixedHorizon.unitsByVariant] },
        alwaysValid: { ...alwaysValid, unitsByVariant: [...alwaysValid.unitsByVariant] },
      }
    },
  }
}
