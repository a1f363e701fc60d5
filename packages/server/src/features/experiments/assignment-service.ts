import type { ErrorName } from '@millrace/contract/errors.ts'
import {
  type AssignedVariant,
  assignmentOf,
  isDecidedByExposure,
  variantOfAll,
  variantOfUnexposed,
} from '@millrace/contract/experiments/assigned-variant.ts'
import type { Assignment } from '@millrace/contract/resources/experiment.ts'
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
      const forAll = variantOfAll(experiment)
      if (forAll) return assignmentOf(experiment, unit, forAll, false)
      const isRead = isDecidedByExposure(experiment)
      const exposed = isRead ? await readExposure(principal, experiment, unit, signal) : undefined
      const assigned: AssignedVariant =
        typeof exposed === 'string'
          ? { variantId: exposed, reason: 'exposure' }
          : variantOfUnexposed(experiment, unit)
      return assignmentOf(experiment, unit, assigned, isRead && exposed !== null)
    },
  }
}

/** What says nothing about the request: the store is down, or has too much to do. */
const overloads: ReadonlySet<ErrorName> = new Set(['tooManyRequests', 'timeout', 'tooComplex', 'unavailable'])

function isOverload(error: unknown): boolean {
  return error instanceof DomainError ? overloads.has(error.errorName) : error instanceof ColumnarUnavailable
}
