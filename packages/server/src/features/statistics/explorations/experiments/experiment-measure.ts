import type { Clock } from '../../../../platform/clock.ts'
import type { CompiledQuery } from '../../query/compile/compile.ts'
import type { EngineCell } from '../../query/run.ts'
import { openZone } from '../../query/time/zone.ts'
import type { StatisticsSettings } from '../../question.ts'
import { compileMeasurement } from './compile-measurement.ts'
import type { CountedWindows, MeasuredExperiment, Measurement } from './measured-experiment.ts'
import { readMeasurement } from './read-measurement.ts'

export interface MeasureRequest {
  readonly companyId: string
  /** Who asks: the users of a company take turns. */
  readonly userId: string
  readonly experiment: MeasuredExperiment
  readonly windows: CountedWindows
  /** Ends the statement, in the engine too. */
  readonly signal: AbortSignal
}

export interface Measured extends Measurement {
  /** When it was measured, in milliseconds since 1970. */
  readonly at: number
  /** Whose days they are. */
  readonly timezone: string
}

/**
 * Measures an experiment from what is stored.
 * @throws {DomainError} `tooComplex`, `tooManyRequests`, `timeout`, `unavailable`
 */
export type MeasureExperiment = (request: MeasureRequest) => Promise<Measured>

export interface MeasureDependencies {
  readonly readSettings: (companyId: string) => Promise<StatisticsSettings>
  /** Gives the cells of all rows, at the company's places and within the limits of queries. */
  readonly run: (
    request: Pick<MeasureRequest, 'companyId' | 'userId' | 'signal'>,
    statement: CompiledQuery,
  ) => Promise<readonly EngineCell[][]>
  readonly clock: Clock
}

export function createExperimentMeasure({
  readSettings,
  run,
  clock,
}: MeasureDependencies): MeasureExperiment {
  return async ({ experiment, windows, ...request }) => {
    const { timezone, eventAliases } = await readSettings(request.companyId)
    const now = clock.now()
    const compiled = compileMeasurement({
      experiment,
      windows,
      companyId: request.companyId,
      eventAliases,
      zone: openZone(timezone),
      now,
    })
    return { ...readMeasurement(await run(request, compiled), experiment), at: now, timezone }
  }
}
