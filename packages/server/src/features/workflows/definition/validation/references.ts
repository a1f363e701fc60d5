import {
  definitionLimits,
  type Edge,
  type WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { faultOf } from '../fault.ts'
import { type Faults, faultOfNode, type Scope } from './scope.ts'

const missing = (what: string, id: string): string =>
  `${what} "${id}" does not exist, or no team of the workflow sees it; choose another one`

function* checkNode({ resources }: Scope, id: string, node: WorkflowNode): Faults {
  switch (node.type) {
    case 'datasource':
      if (!resources.datasources.get(node.datasourceId)?.fields)
        yield faultOfNode(
          'reference',
          id,
          node,
          'datasourceId',
          resources.datasources.has(node.datasourceId)
            ? `datasource "${node.datasourceId}" has no live version yet; bring its fields live first`
            : missing('datasource', node.datasourceId),
        )
      return
    case 'events':
      if (node.datasourceId !== undefined && !resources.trackingDatasources.has(node.datasourceId))
        yield faultOfNode(
          'reference',
          id,
          node,
          'datasourceId',
          missing('tracking datasource', node.datasourceId),
        )
      return
    case 'cohort':
      if (!resources.cohorts.has(node.cohortId))
        yield faultOfNode('reference', id, node, 'cohortId', missing('cohort', node.cohortId))
      return
    case 'json':
      if (!resources.templates.has(node.templateId))
        yield faultOfNode('template', id, node, 'templateId', missing('JSON template', node.templateId))
      return
    case 'experiment': {
      const experiment = resources.experiments.get(node.experimentId)
      if (!experiment)
        yield faultOfNode('reference', id, node, 'experimentId', missing('experiment', node.experimentId))
      else if (experiment.status === 'archived')
        yield faultOfNode(
          'reference',
          id,
          node,
          'experimentId',
          'the experiment is archived; choose another one',
        )
    }
  }
}

function* checkTags({ resources }: Scope, edgeId: string, { tags = [] }: Edge): Faults {
  const valueByKey = new Map<string, string>()
  for (const [place, { tagKeyId, tagValueId }] of tags.entries()) {
    const at = (field: string, message: string) =>
      faultOf('tag', 'edges', edgeId, `tags.${place}.${field}`, message)
    const key = resources.tagKeys.get(tagKeyId)
    if (!key) {
      yield at('tagKeyId', `tag key "${tagKeyId}" does not exist; choose another one`)
      continue
    }
    if (key.assignmentMode === 'system') {
      yield at('tagKeyId', 'the service assigns the tags of this key; remove it')
      continue
    }
    if (!key.valueIds.has(tagValueId))
      yield at('tagValueId', `the tag key has no value "${tagValueId}"; choose another one`)
    const other = valueByKey.get(tagKeyId)
    if (key.cardinality === 'single' && other !== undefined && other !== tagValueId)
      yield at('tagValueId', 'a branch has one value of this tag key; keep one of them')
    valueByKey.set(tagKeyId, tagValueId)
  }
}

/** Ways whose edges name more tags than a branch can have; counted with those that repeat. */
function* checkTagCount({ definition, graph }: Scope): Faults {
  const distinct = new Set<string>()
  for (const { tags = [] } of Object.values(definition.edges))
    for (const { tagKeyId, tagValueId } of tags) distinct.add(`${tagKeyId} ${tagValueId}`)
  if (distinct.size <= definitionLimits.tagsPerBranch) return
  const most = new Map<string, number>()
  for (const vertex of graph.order) {
    for (const { id, to, tags = [] } of graph.outgoing(vertex)) {
      const count = (most.get(vertex) ?? 0) + tags.length
      if (count > definitionLimits.tagsPerBranch) {
        const message = `a way that takes it has more than ${definitionLimits.tagsPerBranch} tags; remove some`
        yield faultOf('tag', 'edges', id, 'tags', message)
        return
      }
      most.set(to, Math.max(most.get(to) ?? 0, count))
    }
  }
}

/** What a definition names must exist for the company. */
export function* checkReferences(scope: Scope): Faults {
  for (const [id, node] of Object.entries(scope.definition.nodes)) yield* checkNode(scope, id, node)
  for (const [id, edge] of Object.entries(scope.definition.edges)) {
    if (edge.categoryId !== undefined && !scope.resources.categories.has(edge.categoryId))
      yield faultOf(
        'category',
        'edges',
        id,
        'categoryId',
        `branch category "${edge.categoryId}" does not exist; choose another one`,
      )
    yield* checkTags(scope, id, edge)
    yield undefined
  }
  yield* checkTagCount(scope)
}
