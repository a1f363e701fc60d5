import { cohort } from './cohort.ts'
import { creditDimensions, creditMeasures } from './credits.ts'
import { dimension } from './dimensions.ts'
import { eventDimensions, eventMeasures, events } from './events.ts'
import type { Dimension, Measure, Source, SourceId } from './member.ts'
import { purchaseDimensions, purchaseMeasures, purchases } from './purchases.ts'
import { sessionDimensions, sessionMeasures, sessions } from './sessions.ts'

/** The statistics model as data: adding a member is adding an entry (docs/statistics.md). */
export const sources: Readonly<Record<SourceId, Source>> = { events, purchases, sessions }

export const measures: readonly Measure[] = [
  ...eventMeasures,
  ...purchaseMeasures,
  ...creditMeasures,
  ...sessionMeasures,
]

/** All but labels, which are as many as the keys that senders use. */
export const dimensions: readonly Dimension[] = [
  ...eventDimensions,
  ...purchaseDimensions,
  ...creditDimensions,
  ...sessionDimensions,
]

/** What only filters name: they mean the same in every source. */
export const filterDimensions: readonly Dimension[] = [cohort]

// Maps, so that `constructor` and its like are unknown members.
const measuresById = new Map(measures.map((each) => [each.id, each]))
const dimensionsById = new Map([...dimensions, ...filterDimensions].map((each) => [each.id, each]))

export function findMeasure(id: string): Measure | undefined {
  return measuresById.get(id)
}

export function findDimension(id: string): Dimension | undefined {
  return dimensionsById.get(id) ?? findLabel(id)
}

export const memberIds: readonly string[] = [...measuresById.keys(), ...dimensionsById.keys()]

const labelForm = /^(events|purchases)\.label\.(.+)$/s

function findLabel(id: string): Dimension | undefined {
  const match = labelForm.exec(id)
  return match ? labelDimension(match[1] as SourceId, match[2] ?? '') : undefined
}

/** The dimension of one label, whether an event ever had it or not. */
export function labelDimension(source: SourceId, key: string): Dimension {
  return dimension(
    source,
    `label.${key}`,
    { sql: '$label', columns: [] },
    {
      title: key,
      description:
        source === 'events'
          ? `Label \`${key}\` of the event, as text; null where it has none.`
          : `Label \`${key}\` of the order, as text: of its earliest event that has one, else null.`,
    },
    { nullable: true, label: key },
  )
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
