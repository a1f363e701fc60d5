import {
  type AskedWorkflowAction,
  type WorkflowStatus,
  workflowActionsFrom,
} from '@millrace/contract/resources/workflow.ts'
import { DomainError } from '../../platform/errors.ts'

/** What decides what can be done to a workflow. */
interface Standing {
  readonly id: string
  readonly status: WorkflowStatus
  /** Whether it has ever been published. */
  readonly wasPublished: boolean
}

/** @throws {DomainError} `workflowTransition` */
export function assertAllowed({ id, status, wasPublished }: Standing, action: AskedWorkflowAction): void {
  // A draft that was published before has a past, which is archived before it is deleted.
  const allowed = workflowActionsFrom(status).filter(
    (each) => each !== 'delete' || status === 'inactive' || !wasPublished,
  )
  if (allowed.includes(action)) return
  const was = status === 'draft' && wasPublished ? 'a draft that was published before' : status
  throw new DomainError(
    'workflowTransition',
    { id, action, from: status, allowed },
    {
      message: `The workflow is ${was}, which does not allow ${action}; possible now: ${allowed.join(', ')}`,
    },
  )
}
