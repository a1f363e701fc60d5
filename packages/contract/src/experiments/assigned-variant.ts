import type { Assignment, Experiment } from '../resources/experiment.ts'
import { assignVariant } from './assignment.ts'

/** An experiment as far as it decides what a unit is shown; the service has instants where clients have texts. */
export interface AssignedExperiment
  extends Readonly<Pick<Experiment, 'unit' | 'status' | 'salt'>>,
    Readonly<Pick<Experiment, 'baselineVariantId' | 'outcome'>> {
  readonly variants: Readonly<Experiment['variants']>
  readonly startedAt?: string | Date | null
}

/** The variant of a unit and why, of the table in docs/experiments.md, Assignment. */
export type AssignedVariant = Readonly<Pick<Assignment, 'variantId' | 'reason'>>

/** What all units are shown; undefined where units differ. */
export function variantOfAll(experiment: AssignedExperiment): AssignedVariant | undefined {
  const { status, startedAt, outcome } = experiment
  const routed = outcome?.routingVariantId
  if (routed !== undefined) return { variantId: routed, reason: 'decision' }
  if (startedAt === null || startedAt === undefined) {
    return { variantId: baselineOf(experiment), reason: 'not-started' }
  }
  return status === 'archived' ? { variantId: baselineOf(experiment), reason: 'ended' } : undefined
}

/** Whether an earlier exposure decides what a unit is shown: the hash of a device never changes while it runs. */
export function isDecidedByExposure({ unit, status }: AssignedExperiment): boolean {
  return unit === 'user' || status !== 'running'
}

/** What a unit is shown that was never exposed. */
export function variantOfUnexposed(experiment: AssignedExperiment, unit: string): AssignedVariant {
  const { status, salt, variants } = experiment
  const forAll = variantOfAll(experiment)
  if (forAll) return forAll
  return status === 'running'
    ? { variantId: assignVariant(salt, unit, variants).id, reason: 'allocation' }
    : { variantId: baselineOf(experiment), reason: 'ended' }
}

/** The answer of the operation `readAssignment`. */
export function assignmentOf(
  experiment: AssignedExperiment & { readonly id: string },
  unit: string,
  { variantId, reason }: AssignedVariant,
  exposuresRead: boolean,
): Assignment {
  return {
    experimentId: experiment.id,
    unit,
    variantId,
    tagValueId: experiment.variants.find(({ id }) => id === variantId)?.tagValueId ?? null,
    isBaseline: variantId === baselineOf(experiment),
    reason,
    recordsExposure: experiment.status === 'running',
    exposuresRead,
  }
}

/** The first variant is the baseline where none is named. */
function baselineOf({ baselineVariantId, variants }: AssignedExperiment): string {
  return baselineVariantId ?? variants[0]?.id ?? ''
}
