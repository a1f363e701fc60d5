import { definitionLimits, type Edge } from '@millrace/contract/resources/workflow-definition.ts'
import { kindOf, referenceOf } from '../nodes/nodes.ts'
import { type FaultAt, type Faults, faultsAt, type Scope } from '../scope.ts'

function* checkTags({ resources }: Scope, { tags = [] }: Edge, at: FaultAt): Faults {
  const valueByKey = new Map<string, string>()
  for (const [place, { tagKeyId, tagValueId }] of tags.entries()) {
    const [keyField, valueField] = [`tags.${place}.tagKeyId`, `tags.${place}.tagValueId`]
    const key = resources.tagKeys.get(tagKeyId)
    if (!key) {
      yield at('tag', keyField, `tag key "${tagKeyId}" does not exist; choose another one`)
      continue
    }
    if (key.assignmentMode === 'system') {
      yield at('tag', keyField, 'the service assigns the tags of this key; remove it')
      continue
    }
    if (!key.valueIds.has(tagValueId))
      yield at('tag', valueField, `the tag key has no value "${tagValueId}"; choose another one`)
    const other = valueByKey.get(tagKeyId)
    if (key.cardinality === 'single' && other !== undefined && other !== tagValueId)
      yield at('tag', valueField, 'a branch has one value of this tag key; keep one of them')
    valueByKey.set(tagKeyId, tagValueId)
  }
}

/** Ways whose edges name more tags than a branch can have; counted with those that repeat. */
function* checkTagCount({ definition, graph }: Scope): Faults {
  const max = definitionLimits.tagsPerBranch
  const distinct = new Set<string>()
  for (const { tags = [] } of Object.values(definition.edges))
    for (const { tagKeyId, tagValueId } of tags) distinct.add(`${tagKeyId} ${tagValueId}`)
  if (distinct.size <= max) return
  const highest = new Map<string, number>()
  for (const vertex of graph.order) {
    for (const { id, to, tags = [] } of graph.outgoing(vertex)) {
      const count = (highest.get(vertex) ?? 0) + tags.length
      if (count > max) {
        const message = `a way that takes it has more than ${max} tags; remove some`
        yield faultsAt('edges', id)('tag', 'tags', message)
        return
      }
      highest.set(to, Math.max(highest.get(to) ?? 0, count))
    }
  }
}

/** What a definition names must exist for the company. */
export function* checkReferences(scope: Scope): Faults {
  const { definition, resources } = scope
  for (const [id, node] of Object.entries(definition.nodes)) {
    const { reference } = kindOf(node)
    const named = referenceOf(node)
    if (!reference || named === undefined) continue
    const { field, kind, noun, rule = 'reference', faultOf } = reference
    const message = resources[kind].has(named)
      ? faultOf?.(named, resources)
      : `${noun} "${named}" does not exist, or no team of the workflow sees it; choose another one`
    if (message) yield faultsAt('nodes', id, node.type)(rule, field, message)
  }
  for (const [id, edge] of Object.entries(definition.edges)) {
    const at = faultsAt('edges', id)
    const { categoryId } = edge
    if (categoryId !== undefined && !resources.categories.has(categoryId)) {
      const message = `branch category "${categoryId}" does not exist; choose another one`
      yield at('category', 'categoryId', message)
    }
    yield* checkTags(scope, edge, at)
    yield undefined
  }
  yield* checkTagCount(scope)
}
