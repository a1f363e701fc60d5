import {
  type FunnelQuery,
  funnelLimits,
  type funnelOrders,
  type windowUnits,
} from '@millrace/contract/resources/funnel.ts'
import { dimensionIn } from '../../catalogue/catalogue.ts'
import type { Dimension } from '../../catalogue/member.ts'
import { type EventAliases, shownNameOf } from '../../query/compile/event-name.ts'
import { parseZone } from '../../query/parse/parse.ts'
import { resolveDimension } from '../../query/parse/parse-members.ts'
import { rejectTooManyBuckets } from '../../query/plan.ts'
import {
  type DimensionFilter,
  type FilterTree,
  type Grouping,
  leavesOf,
  type Reading,
} from '../../query/query.ts'
import { createQueryFaults, type QueryFaults } from '../../query/query-faults.ts'
import { day, hour, minute, type Zone } from '../../query/time/zone.ts'
import { type ExploredRange, parseRanges } from '../ranges.ts'
import { eventTime, parseEventFilters, parseSelection } from '../selection.ts'

/** A funnel with its names resolved, its values read, its dates made instants. Frozen. */
export interface Funnel {
  readonly zone: Zone
  readonly eventAliases: EventAliases
  /** Filters of each step, which its events pass all. */
  readonly steps: readonly (readonly FilterTree<DimensionFilter>[])[]
  /** How rows call the steps. */
  readonly names: readonly string[]
  readonly order: (typeof funnelOrders)[number]
  /** Milliseconds from the first step within which the others count. */
  readonly window: number
  readonly per: NonNullable<FunnelQuery['per']>
  readonly breakdown?: Dimension
  /** The trend's unit of time. */
  readonly trend?: Grouping
  /** Filters that the events of all steps pass. */
  readonly filters: readonly FilterTree<DimensionFilter>[]
  readonly ranges: readonly ExploredRange[]
}

const units: Readonly<Record<(typeof windowUnits)[number], number>> = { minute, hour, day, week: 7 * day }
const defaultWindow = 14 * day

/**
 * Reads a funnel that the contract's schema has accepted.
 * @throws {DomainError} `unknownMember`, `invalidQuery` or `tooComplex`, naming every fault and its step
 */
export function parseFunnel(query: FunnelQuery, reading: Reading, eventAliases: EventAliases): Funnel {
  const faults = createQueryFaults()
  const now = { ...reading, zone: parseZone(query.timezone, faults) ?? reading.zone }
  const order = query.order ?? 'ordered'
  const steps = query.steps.map((step, i) => parseSelection(step, `steps.${i}`, now, faults))
  if (order === 'any') refuseEqualSteps(query, eventAliases, faults)
  const filters = parseEventFilters(query.filters ?? [], 'filters', now, faults)
  const named = query.steps.filter(({ events }) => events).length
  if (leavesOf([...steps.flat(), ...filters]).length - named > funnelLimits.filters) {
    const message = `A funnel may have ${funnelLimits.filters} filters, those of all its steps together`
    faults.add('tooComplex', 'steps', message)
  }
  const window = parseWindow(query.window, faults)
  const breakdown = parseBreakdown(query.breakdown ?? undefined, faults)
  const ranges = parseRanges(query, now, faults)
  const trend = trendOf(query)
  faults.throwAny()
  if (trend) {
    for (const { interval } of ranges) {
      rejectTooManyBuckets({ groupings: [trend], zone: now.zone }, [interval], faults)
    }
  }
  faults.throwAny()
  return Object.freeze({
    zone: now.zone,
    eventAliases,
    steps,
    names: query.steps.map((step, i) => nameOf(query, step, i)),
    order,
    window,
    per: query.per ?? 'person',
    ...(breakdown ? { breakdown } : {}),
    ...(trend ? { trend } : {}),
    filters,
    ranges,
  })
}

function nameOf({ order, steps }: FunnelQuery, { name, events }: FunnelQuery['steps'][number], i: number) {
  if (order === 'any') return `${i + 1} of ${steps.length} steps`
  return name ?? events?.join(' or ') ?? 'any event'
}

/** In any order one event would be both of two equal steps. */
function refuseEqualSteps({ steps }: FunnelQuery, aliases: EventAliases, faults: QueryFaults): void {
  const seen: string[] = []
  for (const [i, { events, filters }] of steps.entries()) {
    const shown = new Set(events?.map((name) => shownNameOf(name, aliases)))
    const text = JSON.stringify([[...shown].sort(), filters ?? []])
    const same = seen.indexOf(text)
    seen.push(text)
    if (same < 0) continue
    const message = `is the same as steps.${same}: in any order each event counts for every step that it meets`
    faults.invalid(`steps.${i}`, message)
  }
}

function parseWindow(window: FunnelQuery['window'], faults: QueryFaults): number {
  if (!window) return defaultWindow
  const length = window.value * units[window.unit]
  if (length > funnelLimits.windowDays * day) {
    faults.invalid('window', `a window has ${funnelLimits.windowDays} days at most`)
  }
  return length
}

function parseBreakdown(id: string | undefined, faults: QueryFaults): Dimension | undefined {
  if (id === undefined) return undefined
  const grouping = resolveDimension(id, 'breakdown', faults)
  if (!grouping) return undefined
  const { dimension } = grouping
  const own = dimensionIn('events', dimension)
  const message = own
    ? whyNoBreakdown(own)
    : `${dimension.id} is no dimension of events, whose first one of each attempt says the value`
  if (message !== undefined) faults.invalid('breakdown', message, dimension.id)
  return own
}

function whyNoBreakdown({ id, type, perItem }: Dimension): string | undefined {
  if (type === 'time') return `${id} is no breakdown: name a unit of time in granularity`
  if (perItem)
    return `an event has several values of ${id}, so that it cannot break a funnel down; filter by it`
  return undefined
}

function trendOf({ granularity }: FunnelQuery): Grouping | undefined {
  if (!granularity) return undefined
  return { key: `${eventTime.id}.${granularity}`, dimension: eventTime, granularity }
}
