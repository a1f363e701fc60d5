import type { WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import { compileAddress } from '../../compile/compile-address.ts'
import { needsOf } from '../../compile/compile-binding.ts'
import { addressOf, compileNamed, readNamed } from '../../compile/compile-content.ts'
import { bindingsOfOutput } from '../bindings.ts'
import { checkUrl } from './addresses.ts'
import type { OutputNodeKind } from './node-kind.ts'

/** Leads to a page. */
export const redirect: OutputNodeKind<WorkflowNodeOf<'redirect'>> = {
  bindingsOf: bindingsOfOutput,
  check: (scope) => (node, at) => checkUrl(node, 'page', scope, at),

  compile(node, context) {
    const bindings = compileNamed(node.bindings, context)
    const url = compileAddress(node.url, bindings, true, context)
    return {
      needs: needsOf(url.bindings),
      hosts: url.host === undefined ? [] : [url.host],
      inputOf: readNamed(bindings),
      render: (run) => ({ kind: 'redirect', location: addressOf(url, run) }),
      destination: url.read,
    }
  },
}
