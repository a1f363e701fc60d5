import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import type {
  ExperimentPlan,
  ExperimentPlanRequest,
  ExperimentResults,
} from '@millrace/contract/resources/experiment-results.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { MeasureExperiment } from '../../statistics/explorations/experiments/experiment-measure.ts'
import type { CountedWindows } from '../../statistics/explorations/experiments/measured-experiment.ts'
import { type PlanDesign, planSample } from '../inference/planner.ts'
import { analyseMeasurement } from './analyse-measurement.ts'

export interface ResultsDependencies {
  readonly findExperiment: (companyId: string, id: string) => Promise<Experiment | undefined>
  readonly measure: MeasureExperiment
}

interface Caller {
  readonly companyId: string
  readonly userId: string
}

export interface ResultsRequest {
  readonly id: string
  readonly windows: CountedWindows
  readonly signal?: AbortSignal
}

export interface ResultsService {
  /**
   * @throws {DomainError} `experimentNotFound`, `experimentNotStarted`, `tooComplex`, `tooManyRequests`, `timeout`,
   *   `unavailable`
   */
  read(caller: Caller, request: ResultsRequest): Promise<ExperimentResults>
  /** @throws {DomainError} `validation` */
  plan(request: ExperimentPlanRequest): ExperimentPlan
}

/** Of the sum of allocations. */
const allocationError = 1e-9

export function createResultsService({ findExperiment, measure }: ResultsDependencies): ResultsService {
  return {
    async read({ companyId, userId }, { id, windows, signal }) {
      const experiment = await findExperiment(companyId, id)
      if (!experiment) throw new DomainError('experimentNotFound', { id })
      const { startedAt, endedAt, baselineVariantId, variants, metrics, unit, outlierCap, cupedDays } =
        experiment
      if (!startedAt) throw new DomainError('experimentNotStarted', { id })
      if (baselineVariantId === undefined) throw new Error('an experiment that started has a baseline')
      const measured = await measure({
        companyId,
        userId,
        windows,
        experiment: {
          id: experiment._id,
          unit,
          variants,
          metrics,
          startedAt: Date.parse(startedAt),
          endedAt: endedAt ? Date.parse(endedAt) : null,
          outlierCap,
          cupedDays,
        },
        ...(signal ? { signal } : {}),
      })
      return analyseMeasurement({ ...experiment, startedAt, baselineVariantId }, measured, windows)
    },

    plan({ baseline, effect, allocations = [0.5, 0.5], power, alpha, dailyUnits }) {
      const faults: { path: string; message: string }[] = []
      if (effect === 0) faults.push({ path: 'effect', message: 'must not be 0: that needs no units to find' })
      const sum = allocations.reduce((total, each) => total + each, 0)
      if (Math.abs(sum - 1) > allocationError) {
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
      return {
        fixedHorizon: { ...fixedHorizon, unitsByVariant: [...fixedHorizon.unitsByVariant] },
        alwaysValid: { ...alwaysValid, unitsByVariant: [...alwaysValid.unitsByVariant] },
      }
    },
  }
}
