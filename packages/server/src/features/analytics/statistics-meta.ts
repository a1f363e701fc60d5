import { granularities, operatorMeanings } from '@millrace/contract/resources/query.ts'
import type {
  DimensionMeta,
  MeasureMeta,
  StatisticsMeta,
} from '@millrace/contract/resources/statistics-meta.ts'
import {
  dimensionIn,
  dimensions,
  filterDimensions,
  labelDimension,
  measures,
  sources,
} from './catalogue/catalogue.ts'
import { exactUpTo, relativeError } from './catalogue/distinct-counts.ts'
import {
  type Dimension,
  type Measure,
  operatorsFor,
  operatorsOf,
  type PlainMeasure,
  type SourceId,
} from './catalogue/member.ts'
import { tagDimension } from './catalogue/workflows.ts'
import type { NamedTagKey } from './definitions/definition-store.ts'
import { partsOf } from './query/plan.ts'
import type { StatisticsSettings } from './question.ts'
import type { LabelKeys } from './statistics-store.ts'

const caseInsensitiveOperators = operatorsOf.string.filter((each) => operatorMeanings[each].ignoresCase)

const sourceIds = Object.keys(sources) as SourceId[]

/** What a company can query: the catalogue, the labels and parameters of its own facts, and its tags. */
export function describeStatistics(
  labels: LabelKeys,
  {
    exactCounts,
    tagKeys = [],
  }: Pick<StatisticsSettings, 'exactCounts'> & { readonly tagKeys?: readonly NamedTagKey[] },
): StatisticsMeta {
  const known = [
    ...dimensions,
    ...filterDimensions,
    ...tagKeys.map(({ id, name }) => tagDimension(id, name)),
    ...sourceIds.flatMap((source) => (labels[source] ?? []).map((key) => labelDimension(source, key))),
  ]
  return {
    measures: Object.fromEntries(measures.map((each) => [each.id, describeMeasure(each, exactCounts)])),
    dimensions: Object.fromEntries(known.map((each) => [each.id, describeDimension(each)])),
    queryCompatibility: {
      components: [
        ...subsetsOf(sourceIds).map((subset) => membersOf(subset, known)),
        ...creditMembers(known),
      ],
      measureSources: Object.fromEntries(measures.map((each) => [each.id, sourcesOf(each)])),
    },
  }
}

function describeMeasure(measure: Measure, exactCounts: boolean): MeasureMeta {
  const { title, description, source, format, virtual } = measure
  const isEstimated = !measure.virtual && measure.estimate !== undefined && !exactCounts
  const bounds = isEstimated ? { exactUpTo, relativeError } : {}
  return { title, description, source, type: 'number', format, virtual, ...bounds }
}

function describeDimension(dimension: Dimension): DimensionMeta {
  const { id, source, title, description, type, format, values, filterOnly } = dimension
  return {
    title,
    description,
    source: filterOnly ? id.slice(0, id.indexOf('.')) : source,
    type,
    ...(format === undefined ? {} : { format }),
    ...(type === 'time' ? { granularities: [...granularities] } : {}),
    operators: [...operatorsFor(dimension)],
    ...(filterOnly ? { filterOnly } : {}),
    ...(type === 'string' && !filterOnly ? { caseInsensitiveOperators: [...caseInsensitiveOperators] } : {}),
    ...(values === undefined ? {} : { values: [...values] }),
  }
}

function sourcesOf(measure: Measure): string[] {
  return [...new Set(partsOf(measure).map(({ source }) => source))]
}

/** Every set of sources but the empty one, smaller sets first. */
function subsetsOf(ids: readonly SourceId[]): SourceId[][] {
  const all = Array.from({ length: 2 ** ids.length - 1 }, (_, i) =>
    ids.filter((_, bit) => ((i + 1) >> bit) % 2 === 1),
  )
  return all.sort((a, b) => a.length - b.length)
}

/** Members that a query of these sources may combine: their measures, and the dimensions that all of them have. */
function membersOf(subset: readonly SourceId[], known: readonly Dimension[]): string[] {
  return [
    ...measures.filter((each) => sourcesOf(each).every((id) => subset.includes(id as SourceId))),
    ...known.filter((each) => subset.every((id) => dimensionIn(id, each))),
  ].map(({ id }) => id)
}

/**
 * What fits together with dimensions of interactions, which the credits of purchases have and purchases have not: the
 * measures of credits, alone with all dimensions of purchases, and those of workflows with them.
 */
function creditMembers(known: readonly Dimension[]): string[][] {
  const isOfCredits = ({ source, over }: PlainMeasure) => source === 'purchases' && over === 'credits'
  const fits = (each: Measure, isPart: (part: PlainMeasure) => boolean) => partsOf(each).every(isPart)
  const dimensionsOf = (id: SourceId) => known.filter((each) => each.ofCredits || dimensionIn(id, each))
  const shared = dimensionsOf('workflows').filter((each) => each.ofCredits || dimensionIn('purchases', each))
  return [
    [...measures.filter((each) => fits(each, isOfCredits)), ...dimensionsOf('purchases')],
    [
      ...measures.filter((each) => fits(each, (part) => isOfCredits(part) || part.source === 'workflows')),
      ...shared,
    ],
  ].map((members) => members.map(({ id }) => id))
}
