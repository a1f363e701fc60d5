import type { ErrorName } from '@millrace/contract/errors.ts'
import { assignVariant } from '@millrace/contract/experiments/assignment.ts'
import type { Assignment, AssignmentReason } from '@millrace/contract/resources/experiment.ts'
import { DomainError } from '../../platform/errors.ts'
import { normalizeId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { ColumnarUnavailable } from '../../platform/stores/columnar.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import type { Principal } from '../identity/sessions/principal.ts'
import { createExperimentStore, type StoredExperiment } from './experiment-store.ts'
import { type ExposureStatement, firstExposure } from './first-exposure.ts'

export interface AssignmentServiceDependencies {
  readonly relational: Pick<Relational, 'db'>
  /** Cells of the rows of a statement, within the limits of the company's queries. */
  readonly runStatement: (
    asked: { readonly companyId: string; readonly userId: string; readonly signal: AbortSignal },
    statement: ExposureStatement,
  ) => Promise<readonly (readonly unknown[])[]>
  readonly log: Pick<Logger, 'warn'>
}

export type AssignmentService = ReturnType<typeof createAssignmentService>

/** Which variant a unit is shown (docs/experiments.md, Assignment). */
export function createAssignmentService({ relational, runStatement, log }: AssignmentServiceDependencies) {
  const store = createExperimentStore(relational.db)

  /** Undefined without an exposure; null where it could not be read. */
  async function readExposure(
    { companyId, userId }: Principal,
    experiment: StoredExperiment,
    unit: string,
    signal: AbortSignal,
  ): Promise<string | undefined | null> {
    try {
      const [row] = await runStatement({ companyId, userId, signal }, firstExposure({ experiment, unit }))
      return row && String(row[0])
    } catch (error) {
      if (signal.aborted || !isOverload(error)) throw error
      log.warn({ err: error, experimentId: experiment.id }, 'exposures of a unit could not be read')
      return null
    }
  }

  return {
    /** @throws {DomainError} `experimentNotFound` */
    async read(principal: Principal, id: string, unit: string, signal: AbortSignal): Promise<Assignment> {
      const { companyId } = principal
      const experiment = await store.find({ companyId, id: normalizeId(id) })
      if (!experiment) throw new DomainError('experimentNotFound', { id: normalizeId(id) })
      const { status, variants, baselineVariantId, salt } = experiment
      const answer = (variantId: string, reason: AssignmentReason, exposuresRead = false): Assignment => {
        const variant = variants.find((each) => each.id === variantId)
        return {
          experimentId: experiment.id,
          unit,
          variantId,
          tagValueId: variant?.tagValueId ?? null,
          isBaseline: variantId === baselineVariantId,
          reason,
          recordsExposure: status === 'running',
          exposuresRead,
        }
      }
      const routed = experiment.outcome?.routingVariantId
      if (routed !== undefined) return answer(routed, 'decision')
      if (experiment.startedAt === null) return answer(baselineVariantId, 'not-started')
      if (status === 'archived') return answer(baselineVariantId, 'ended')
      const isRunning = status === 'running'
      // While it runs, a device gets what its hash says, which is what it was exposed to if it was.
      const isRead = experiment.unit === 'user' || !isRunning
      const exposed = isRead ? await readExposure(principal, experiment, unit, signal) : undefined
      const exposuresRead = isRead && exposed !== null
      if (typeof exposed === 'string') return answer(exposed, 'exposure', exposuresRead)
      return isRunning
        ? answer(assignVariant(salt, unit, variants).id, 'allocation', exposuresRead)
        : answer(baselineVariantId, 'ended', exposuresRead)
    },
  }
}

/** What says nothing about the request: the store is down, or has too much to do. */
const overloads: ReadonlySet<ErrorName> = new Set(['tooManyRequests', 'timeout', 'tooComplex', 'unavailable'])

function isOverload(error: unknown): boolean {
  return error instanceof DomainError ? overloads.has(error.errorName) : error instanceof ColumnarUnavailable
}
