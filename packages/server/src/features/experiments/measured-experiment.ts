import type { Experiment, Metric, Variant } from '@millrace/contract/resources/experiment.ts'
import type { StoredExperiment } from './experiment-store.ts'

/** What the results of an experiment are computed from. Times are milliseconds since 1970. */
export interface MeasuredExperiment extends Pick<Experiment, 'companyId' | 'type' | 'unit'> {
  readonly id: string
  readonly status: Experiment['status']
  readonly variants: readonly Variant[]
  readonly baselineVariantId: string
  /** The first is the success metric. */
  readonly metrics: readonly Metric[]
  /** Null before it starts. */
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly readAt: number | null
  /** Units of all variants together. */
  readonly plannedSample: number | null
  readonly conversionWindowHours: number
  /** Quantile. */
  readonly outlierCap: number | null
  readonly cupedDays: number | null
}

export function measuredOf(stored: StoredExperiment): MeasuredExperiment {
  const { id, companyId, type, unit, status, variants, baselineVariantId, metrics } = stored
  const { plannedSample, conversionWindowHours, outlierCap, cupedDays } = stored
  return {
    id,
    companyId,
    type,
    unit,
    status,
    variants,
    baselineVariantId,
    metrics,
    startedAt: stored.startedAt?.getTime() ?? null,
    endedAt: stored.endedAt?.getTime() ?? null,
    readAt: stored.readAt?.getTime() ?? null,
    plannedSample,
    conversionWindowHours,
    outlierCap,
    cupedDays,
  }
}
