import { parameterPrefix } from '../../../database/workflow-columns.ts'
import { creditMeasures } from './credits.ts'
import { membersOf, nullable, ofCredits, ofWorkflow, read } from './define-members.ts'
import { eventDimensions, eventMeasures, events } from './events.ts'
import type { Dimension, Measure, Source, SourceId } from './member.ts'
import { purchaseDimensions, purchaseMeasures, purchases } from './purchases.ts'
import { sessionDimensions, sessionMeasures, sessions } from './sessions.ts'
import { tagDimension, workflowDimensions, workflowMeasures, workflows } from './workflows.ts'

/** The statistics model as data: adding a member is adding an entry (docs/statistics.md). */
export const sources: Readonly<Record<SourceId, Source>> = { events, purchases, sessions, workflows }

export const measures: readonly Measure[] = [
  ...eventMeasures,
  ...purchaseMeasures,
  ...creditMeasures,
  ...sessionMeasures,
  ...workflowMeasures,
]

/** All but labels, parameters and tags, which are as many as the keys that a company has. */
export const dimensions: readonly Dimension[] = [
  ...eventDimensions,
  ...purchaseDimensions,
  ...sessionDimensions,
  ...workflowDimensions,
]

/** Whether the person of a row belongs to a cohort (docs/statistics.md, Cohorts). It stands for no column. */
export const cohort: Dimension = {
  ...membersOf('events').dimension('cohort', 'Cohort', read(''), {
    shared: true,
    filterOnly: true,
    format: 'id',
  })`
    Saved groups of persons, by their identifiers: \`equals\` keeps the rows of persons in one of them, \`notEquals\`
    those of all others. A filter of every source; rows are not grouped by it.`,
  id: 'persons.cohort',
}

/** What only filters name: they mean the same in every source. */
export const filterDimensions: readonly Dimension[] = [cohort]

// Maps, so that `constructor` and its like are unknown members.
const measuresById = new Map(measures.map((each) => [each.id, each]))
const dimensionsById = new Map([...dimensions, ...filterDimensions].map((each) => [each.id, each]))

export function findMeasure(id: string): Measure | undefined {
  return measuresById.get(id)
}

export function findDimension(id: string): Dimension | undefined {
  return dimensionsById.get(id) ?? findLabel(id) ?? findTag(id)
}

export const memberIds: readonly string[] = [...measuresById.keys(), ...dimensionsById.keys()]

const labelForms: Readonly<Partial<Record<SourceId, RegExp>>> = {
  events: /^events\.label\.(.+)$/s,
  purchases: /^purchases\.label\.(.+)$/s,
  workflows: /^workflows\.parameter\.(.+)$/s,
}

function findLabel(id: string): Dimension | undefined {
  const source = id.slice(0, id.indexOf('.')) as SourceId
  const key = labelForms[source]?.exec(id)?.[1]
  return key === undefined ? undefined : labelDimension(source, key)
}

const tagForm = /^tags\.([0-9a-f]{24})$/i

function findTag(id: string): Dimension | undefined {
  const keyId = tagForm.exec(id)?.[1]
  return keyId === undefined ? undefined : tagDimension(keyId.toLowerCase())
}

/** Labels of interactions that one workflow alone has (docs/workflows.md, Events), beside its parameters. */
const labelsOfWorkflows: ReadonlySet<string> = new Set([
  'workflowId',
  'versionId',
  'branchId',
  'entrypointId',
  'integrationId',
  'message',
])

const isOfWorkflow = (label: string): boolean =>
  labelsOfWorkflows.has(label) || label.startsWith(parameterPrefix)

/** The dimension of one label, or of one parameter of workflows, whether a fact ever had it or not. */
export function labelDimension(source: SourceId, key: string): Dimension {
  const { dimension } = membersOf(source)
  const label = { ...nullable, label: key }
  const value = read('$label')
  switch (source) {
    case 'workflows':
      return dimension(`parameter.${key}`, key, value, label, ofCredits, ofWorkflow)`
        Parameter \`${key}\` of the address of the content, as text; null where it has none.`
    case 'events':
      return dimension(`label.${key}`, key, value, label, isOfWorkflow(key) ? ofWorkflow : {})`
        Label \`${key}\` of the event, as text; null where it has none.`
    default:
      return dimension(`label.${key}`, key, value, label)`
        Label \`${key}\` of the order, as text: of its earliest event that has one, else null.`
  }
}

/** Whether the dimension means the same in every source: times are one axis, some others are shared by name. */
export function isShared(dimension: Dimension): boolean {
  return dimension.shared || dimension.type === 'time'
}

/** The dimension as another source knows it, or nothing. */
export function dimensionIn(source: SourceId, wanted: Dimension): Dimension | undefined {
  if (wanted.source === source || wanted.filterOnly) return wanted
  return isShared(wanted) ? dimensionsById.get(`${source}.${wanted.name}`) : undefined
}
