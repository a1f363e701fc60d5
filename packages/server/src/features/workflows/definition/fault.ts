import type { DefinitionFault, DefinitionRule } from '@millrace/contract/resources/workflow-definition.ts'

type Part = 'nodes' | 'entrypoints' | 'edges'

const identities = { nodes: 'nodeId', entrypoints: 'entrypointId', edges: 'edgeId' } as const
const nouns = { nodes: 'Node', entrypoints: 'Entrypoint', edges: 'Edge' } as const

/** A fault of one part of a definition; the message follows its name: `Node "n1" (image): url must be ...`. */
export function faultOf(
  rule: DefinitionRule,
  part: Part,
  id: string,
  field: string,
  message: string,
  type?: string,
): DefinitionFault {
  return {
    path: [part, id, field].filter((each) => each !== '').join('.'),
    [identities[part]]: id,
    rule,
    message: `${nouns[part]} "${id}"${type ? ` (${type})` : ''}: ${message}`,
  }
}
