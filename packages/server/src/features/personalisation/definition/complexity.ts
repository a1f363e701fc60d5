import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import { kindOf } from './nodes/nodes.ts'

/** Connected parts of the graph, whatever the direction of its edges. */
function countParts(vertices: readonly string[], edges: readonly { from: string; to: string }[]): number {
  const above = new Map(vertices.map((vertex) => [vertex, vertex]))
  const top = (vertex: string): string => {
    let at = vertex
    while (above.get(at) !== at) {
      const next = above.get(at) as string
      above.set(at, above.get(next) as string)
      at = next
    }
    return at
  }
  for (const { from, to } of edges) above.set(top(from), top(to))
  return vertices.filter((vertex) => above.get(vertex) === vertex).length
}

/**
 * How much there is to understand: edges − vertices + 2 × connected parts (McCabe's cyclomatic number), plus one for
 * each rule of conditions, filter of datasources and function of transforms. 0 for an empty definition.
 */
export function complexityOf(definition: WorkflowDefinition): number {
  const vertices = [...new Set([...Object.keys(definition.entrypoints), ...Object.keys(definition.nodes)])]
  const known = new Set(vertices)
  const edges = Object.values(definition.edges).filter(({ from, to }) => known.has(from) && known.has(to))
  let details = 0
  for (const node of Object.values(definition.nodes)) details += kindOf(node).detailsOf?.(node) ?? 0
  return edges.length - vertices.length + 2 * countParts(vertices, edges) + details
}
