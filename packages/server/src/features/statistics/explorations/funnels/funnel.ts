import type { FunnelQuery, funnelOrders } from '@millrace/contract/resources/funnel.ts'
import type { Dimension } from '../../members/member.ts'
import type { EventAliases } from '../../query/compile/event-name.ts'
import type { DimensionFilter, FilterTree, Grouping } from '../../query/query.ts'
import type { Zone } from '../../query/time/zone.ts'
import type { ExploredRange } from '../ranges.ts'

export type FunnelOrder = (typeof funnelOrders)[number]

/** A funnel with its names resolved, its values read, its dates made instants. Frozen. */
export interface Funnel {
  readonly zone: Zone
  readonly eventAliases: EventAliases
  /** Filters of each step, which its events pass all. */
  readonly steps: readonly (readonly FilterTree<DimensionFilter>[])[]
  /** How rows call the steps. */
  readonly names: readonly string[]
  readonly order: FunnelOrder
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
