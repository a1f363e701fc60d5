import {
  dimensionIn,
  dimensions,
  filterDimensions,
  measures,
  sources,
} from '../../packages/server/src/features/analytics/catalogue/catalogue.ts'
import type {
  Dimension,
  Measure,
  SourceId,
} from '../../packages/server/src/features/analytics/catalogue/member.ts'
import { describeStatistics } from '../../packages/server/src/features/analytics/statistics-meta.ts'
import { table } from './markdown.ts'

const sourceIds = Object.keys(sources) as SourceId[]
const meta = describeStatistics({}, { exactCounts: false })

/** Measures with which the dimension may meet. */
function groups(dimension: Dimension): string {
  if (dimension.filterOnly) return 'filters all, groups none'
  const known = sourceIds.filter((id) => dimensionIn(id, dimension))
  const all =
    known.length === sourceIds.length ? 'all' : `measures of ${known.map((id) => `\`${id}\``).join(', ')}`
  return dimension.ofCredits ? `${all}, and credits` : all
}

/** What the measure counts or is computed of, where it is not the rows of its source. */
function computedOf(measure: Measure): string {
  if (measure.virtual) {
    const from = meta.queryCompatibility.measureSources[measure.id] ?? []
    return `virtual, of ${from.map((id) => `\`${id}\``).join(' and ')}`
  }
  if (measure.over === 'rows') return measure.mean ? 'mean' : 'rows'
  return measure.over
}

function typeOf({ type, format, values }: Dimension): string {
  const named = format === undefined ? type : `${type}, ${format}`
  return values === undefined ? named : `${named}: ${values.map((value) => `\`${value}\``).join(', ')}`
}

/** Every measure and dimension of the catalogue, by source. */
export function memberTables(): string {
  const sections = sourceIds.flatMap((id) => [
    `## ${id}`,
    '### Measures',
    table(
      ['measure', 'title', 'format', 'of', 'meaning'],
      measures
        .filter(({ source }) => source === id)
        .map((each) => [`\`${each.id}\``, each.title, each.format, computedOf(each), each.description]),
    ),
    '### Dimensions',
    table(
      ['dimension', 'title', 'type', 'groups', 'meaning'],
      dimensions
        .filter(({ source }) => source === id)
        .map((each) => [`\`${each.id}\``, each.title, typeOf(each), groups(each), each.description]),
    ),
  ])
  const everywhere = [
    '## Everywhere',
    table(
      ['dimension', 'title', 'type', 'groups', 'meaning'],
      filterDimensions.map((each) => [
        `\`${each.id}\``,
        each.title,
        typeOf(each),
        groups(each),
        each.description,
      ]),
    ),
  ]
  return `\n${[...sections, ...everywhere].join('\n\n')}\n`
}
