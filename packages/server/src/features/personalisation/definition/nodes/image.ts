import type { WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import { compileAddress } from '../../compile/compile-address.ts'
import { needsOf } from '../../compile/compile-binding.ts'
import { addressOf, compileClick, compileNamed, readNamed } from '../../compile/compile-content.ts'
import { bindingsOfOutput } from '../bindings.ts'
import { checkClick, checkUrl } from './addresses.ts'
import type { OutputNodeKind } from './node-kind.ts'

/** Leads to an image. */
export const image: OutputNodeKind<WorkflowNodeOf<'image'>> = {
  bindingsOf: bindingsOfOutput,

  check: (scope) =>
    function* (node, at) {
      yield* checkUrl(node, 'image', scope, at)
      yield* checkClick('redirect', node.redirect, scope, at)
    },

  compile(node, context) {
    const bindings = compileNamed(node.bindings, context)
    const url = compileAddress(node.url, bindings, false, context)
    const click = compileClick(node.redirect, context)
    return {
      needs: needsOf([...url.bindings, ...click.bindings]),
      hosts: click.hosts,
      inputOf: readNamed(bindings),
      render: (run) => ({ kind: 'image', location: addressOf(url, run) }),
      destination: click.read,
    }
  },
}
