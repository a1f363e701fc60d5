import {
  actionsFrom,
  descriptiveFields,
  type ExperimentAction,
  type ExperimentUpdate,
  transitionOf,
} from '@millrace/contract/resources/experiment.ts'
import { DomainError } from '../../platform/errors.ts'
import { changedDefinition, type Definition, redefineExperiment } from './experiment-definition.ts'
import type { ExperimentFields, StoredExperiment } from './experiment-store.ts'

/** What an action sets of an experiment. */
export function fieldsOf(action: ExperimentAction, now: number): ExperimentFields {
  const { to, sets } = transitionOf(action)
  return { ...(to && { status: to }), ...(sets && { [sets]: new Date(now) }) }
}

/** @throws {DomainError} `experimentTransition` */
export function assertAllowed({ id, status }: StoredExperiment, action: ExperimentAction): void {
  const allowed = actionsFrom(status)
  if (allowed.includes(action)) return
  const { to } = transitionOf(action)
  const possible =
    allowed.length > 0 ? `possible now: ${allowed.join(', ')}` : 'no further change is possible'
  throw new DomainError(
    'experimentTransition',
    { id, action, from: status, to: to ?? null, allowed },
    { message: `The experiment is ${status}, which does not allow ${action}; ${possible}` },
  )
}

/** The definition as it is to be; undefined where nothing of it changes. @throws {DomainError} */
export function redefined(experiment: StoredExperiment, body: ExperimentUpdate): Partial<Definition> {
  const changed = changedDefinition(experiment, body)
  if (changed.length === 0) return {}
  if (experiment.status !== 'draft') refuseFixed(experiment, changed)
  return redefineExperiment(experiment, body)
}

/** @throws {DomainError} `experimentFixed` */
export function refuseFixed({ id, status }: StoredExperiment, fields: readonly string[]): void {
  if (status === 'draft') return
  const changeable: readonly string[] = status === 'archived' ? [] : descriptiveFields
  const fixed = fields.filter((field) => !changeable.includes(field))
  if (fixed.length === 0) return
  const can =
    changeable.length > 0 ? `only ${changeable.join(', ')} can be changed` : 'nothing can be changed'
  throw new DomainError(
    'experimentFixed',
    { id, status, fields: fixed, changeable: [...changeable] },
    { message: `The experiment is ${status}: ${fixed.join(', ')} can no longer be changed, ${can}` },
  )
}
