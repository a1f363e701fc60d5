import { createHash } from 'node:crypto'
import type { Clock } from '../../../../platform/clock.ts'
import { createAnswerCache, isKept, isOfQuery, type KeptAnswer } from '../../answer-cache.ts'
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
  /** Names what is stored; another text as soon as anything is added, changed or removed. */
  readonly readVersion: () => Promise<string>
  /** Gives the cells of all rows, at the company's places and within the limits of queries. */
  readonly run: (
    request: Pick<MeasureRequest, 'companyId' | 'userId' | 'signal'>,
    statement: CompiledQuery,
  ) => Promise<readonly EngineCell[][]>
  readonly clock: Clock
}

/** The cells of a measurement, and when they were read. */
interface ReadCells {
  readonly at: number
  readonly rows: readonly (readonly EngineCell[])[]
}

/** What was measured is given again for some seconds, as answers of queries are, while what is stored stays the same. */
export function createExperimentMeasure({
  readSettings,
  readVersion,
  run,
  clock,
}: MeasureDependencies): MeasureExperiment {
  const cache = createAnswerCache({ clock })

  async function remembered(
    asked: readonly unknown[],
    signal: AbortSignal,
    read: () => Promise<ReadCells>,
  ): Promise<ReadCells> {
    const version = await readVersion().catch(() => undefined)
    if (version === undefined) return read()
    const key = createHash('sha256')
      .update(JSON.stringify([version, ...asked]))
      .digest('base64')
    const found = await cache.find(key, signal)
    if (isKept(found)) return JSON.parse(found.text) as ReadCells
    let answer: KeptAnswer | undefined
    let failure: unknown
    try {
      const cells = await read()
      answer = { text: JSON.stringify(cells), warnings: [] }
      return cells
    } catch (error) {
      if (isOfQuery(error) && !signal.aborted) failure = error
      throw error
    } finally {
      found.end(answer, failure)
    }
  }

  return async ({ experiment, windows, ...request }) => {
    const { companyId, signal } = request
    const { timezone, eventAliases } = await readSettings(companyId)
    const asked = [companyId, experiment, windows, timezone, [...eventAliases]]
    const { at, rows } = await remembered(asked, signal, async () => {
      const now = clock.now()
      const zone = openZone(timezone)
      const compiled = compileMeasurement({ experiment, windows, companyId, eventAliases, zone, now })
      return { at: now, rows: await run(request, compiled) }
    })
    return { ...readMeasurement(rows, experiment), at, timezone }
  }
}
