import { eventLimits } from '@millrace/contract/events/limits.ts'
import { isCleanText } from '@millrace/contract/events/texts.ts'
import {
  type AssignedVariant,
  assignmentOf,
  variantOfUnexposed,
} from '@millrace/contract/experiments/assigned-variant.ts'
import type { Assignment, Experiment } from '@millrace/contract/resources/experiment.ts'

/** An experiment as the service answers it, as far as assignment reads it. */
export type AssignableExperiment = Pick<
  Experiment,
  '_id' | 'unit' | 'status' | 'startedAt' | 'variants' | 'baselineVariantId' | 'salt' | 'outcome'
>

/** As the service answers `readAssignment`; `override` where the application chose the variant itself. */
export type LocalAssignment = Omit<Assignment, 'reason'> & {
  readonly reason: Assignment['reason'] | 'override'
}

/**
 * The variant of a unit by the state of an experiment and the hash, as the service gives it for a unit that was never
 * exposed (docs/experiments.md, Assignment).
 * @throws {RangeError} for a unit that the service would refuse
 */
export function assign(experiment: AssignableExperiment, unit: string): Assignment {
  checkUnit(unit)
  return answer(experiment, unit, variantOfUnexposed(experiment, unit))
}

export function answer(
  experiment: AssignableExperiment,
  unit: string,
  assigned: AssignedVariant,
): Assignment {
  return assignmentOf({ ...experiment, id: experiment._id }, unit, assigned, false)
}

const maxLength = Math.max(eventLimits.clientId, eventLimits.tmpId)

/** @throws {RangeError} */
export function checkUnit(unit: unknown): void {
  if (typeof unit === 'string' && unit !== '' && unit.length <= maxLength && isCleanText(unit)) return
  throw new RangeError(
    `A unit is a clientId or tmpId: a text of 1 to ${maxLength} characters without NUL or half a surrogate pair.`,
  )
}
