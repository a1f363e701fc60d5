import type { WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import type { Content } from '../../compile/executable.ts'
import type { OutputNodeKind } from './node-kind.ts'

const content: Content = { kind: 'empty' }

/** Shows nothing. */
export const empty: OutputNodeKind<WorkflowNodeOf<'empty'>> = {
  compile: () => ({ inputOf: () => null, render: () => content, destination: () => undefined }),
}
