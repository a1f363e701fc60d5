import type { Granularity, Meta } from '../../data/format.ts'
import type { ExplorationBody } from '../../exploration/rows.ts'
import {
  type Condition,
  cohortMember,
  conditionsBody,
  type Left,
  readConditions,
  readSelection,
  type Selection,
  selectionBody,
} from '../../exploration/selection.ts'

export const orders = ['ordered', 'strict', 'any'] as const
export const units = ['minute', 'hour', 'day', 'week'] as const
export const trendUnits = ['hour', 'day', 'week', 'month'] as const
export type Order = (typeof orders)[number]
export type Unit = (typeof units)[number]
export type TrendUnit = (typeof trendUnits)[number]

export const stepLimits = { min: 2, max: 12 } as const
const initialWindow = { value: 14, unit: 'day' } as const
const unitDays: Readonly<Record<Unit, number>> = { minute: 1 / 1_440, hour: 1 / 24, day: 1, week: 7 }
const maxWindowDays = 366

export interface FunnelWindow {
  readonly value: number
  readonly unit: Unit
}

/** What the address says of a funnel, beside its range. */
export interface FunnelState {
  readonly steps: readonly Selection[]
  readonly order: Order
  readonly window: FunnelWindow
  readonly per: 'person' | 'session'
  readonly breakdown: string | undefined
  readonly filters: readonly Condition[]
  readonly show: 'steps' | 'trend'
  readonly trend: TrendUnit | undefined
}

/** Whether the rows of a funnel can be divided by a dimension: by one value of an event. */
export function isBreakdown(meta: Meta, member: string): boolean {
  const known = meta.dimensions[member]
  if (known === undefined || known.filterOnly || member === cohortMember || member === 'events.item')
    return false
  return known.type !== 'time' && (known.source === 'events' || member.startsWith('events.label.'))
}

function readWindow(value: unknown): FunnelWindow {
  const { value: count, unit } = (value ?? {}) as Partial<Record<keyof FunnelWindow, unknown>>
  const known = units.find((each) => each === unit)
  const isWhole = typeof count === 'number' && Number.isInteger(count) && count >= 1
  if (!known || !isWhole || count * unitDays[known] > maxWindowDays) return initialWindow
  return { value: count, unit: known }
}

/** @param frequent names of the most frequent events, with which a funnel begins that says no steps */
export function readFunnel(
  view: Readonly<Record<string, unknown>>,
  meta: Meta,
  frequent: readonly string[],
  left: Left,
): FunnelState {
  const given = Array.isArray(view.steps) ? view.steps.slice(0, stepLimits.max) : undefined
  const steps =
    given && given.length >= stepLimits.min
      ? given.map((each) => readSelection(each, meta, left))
      : initialSteps(frequent)
  const breakdown = typeof view.breakdown === 'string' ? view.breakdown : undefined
  const isKnown = breakdown !== undefined && isBreakdown(meta, breakdown)
  if (breakdown !== undefined && !isKnown) left.push(breakdown)
  return {
    steps,
    order: orders.find((each) => each === view.order) ?? 'ordered',
    window: readWindow(view.window),
    per: view.per === 'session' ? 'session' : 'person',
    breakdown: isKnown ? breakdown : undefined,
    filters: readConditions(view.filters, meta, left),
    show: view.show === 'trend' ? 'trend' : 'steps',
    trend: trendUnits.find((each) => each === view.trend),
  }
}

const initialSteps = (frequent: readonly string[]): readonly Selection[] => {
  const names = frequent.slice(0, 4)
  const steps = names.map((name) => ({ events: [name] }))
  return steps.length >= stepLimits.min ? steps : [...steps, {}, {}].slice(0, stepLimits.min)
}

export function funnelBody(
  state: FunnelState,
  ranges: object,
  granularity: Granularity | undefined,
): ExplorationBody<'exploreFunnel'> {
  return {
    steps: state.steps.map(selectionBody),
    order: state.order,
    window: state.window,
    per: state.per,
    ...(state.breakdown !== undefined && { breakdown: state.breakdown }),
    ...(granularity && { granularity }),
    ...(state.filters.length > 0 && { filters: conditionsBody(state.filters) }),
    ...ranges,
  }
}
