import type { Filter } from '@millrace/contract/resources/query.ts'
import type { GuidedAnalysisName } from '@millrace/contract/resources/report.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { dimensionsOf, type Rate, rates, type Subject } from './subject.ts'

/** One count of events of some names, told where there are any. */
export interface Presence {
  /** Names it in texts. */
  readonly id: 'displays' | 'clicks' | 'exposures'
  readonly filters: readonly Filter[]
}

/** One more thing that an analysis tells, without looking for its causes. */
export interface Aside {
  readonly measure: string
  /** By its members; by time where `byTime`; else in all, now and before. */
  readonly dimension?: string
  readonly byTime?: true
}

/** What a guided analysis asks. */
export interface GuidedPlan {
  /** The one that the summary begins with, then others. */
  readonly subjects: readonly Subject[]
  /** What the analysis rests on, and says when it is absent. */
  readonly presences: readonly Presence[]
  readonly asides: readonly Aside[]
}

const rate = (id: string): Rate[] => {
  const found = rates[id]
  return found ? [found] : []
}

/** The queries' subjects of each guided analysis (docs/reports.md, What a report says). */
export function guidedPlan(analysis: GuidedAnalysisName, meta: StatisticsMeta): GuidedPlan {
  const known = (ids: readonly string[]) => ids.filter((id) => Object.hasOwn(meta.measures, id))
  switch (analysis) {
    case 'revenue':
      return {
        subjects: [
          {
            source: 'purchases',
            measure: 'purchases.revenue',
            sample: 'purchases.count',
            totals: known([
              'purchases.revenue',
              'purchases.count',
              'purchases.buyers',
              'purchases.averageOrderValue',
              'purchases.revenuePerBuyer',
              'purchases.referencesPerPurchase',
            ]),
            rates: rate('purchases.averageOrderValue'),
            filters: [],
            dimensions: dimensionsOf('purchases', meta),
          },
        ],
        presences: [],
        asides: [],
      }
    case 'engagement':
      return {
        subjects: [
          {
            source: 'sessions',
            measure: 'sessions.count',
            sample: 'sessions.count',
            totals: known([
              'sessions.count',
              'sessions.people',
              'sessions.perPerson',
              'sessions.duration',
              'sessions.eventsPerSession',
              'sessions.bounceRate',
            ]),
            rates: rate('sessions.bounceRate'),
            filters: [],
            // Those that are read from the text of an address take longest: channels tell most of them.
            dimensions: dimensionsOf('sessions', meta).slice(0, 4),
          },
          {
            source: 'events',
            measure: 'events.count',
            sample: 'events.count',
            totals: known(['events.count', 'events.people', 'events.perPerson']),
            rates: [],
            filters: [],
            dimensions: dimensionsOf('events', meta).slice(0, 4),
          },
        ],
        presences: [],
        asides: [],
      }
    case 'retention':
      return {
        subjects: [
          {
            source: 'sessions',
            measure: 'sessions.count',
            sample: 'sessions.count',
            name: 'returningSessions',
            totals: known(['sessions.people', 'sessions.perPerson']),
            rates: [],
            // Those of persons who were there before.
            filters: [{ member: 'sessions.isNew', operator: 'equals', values: ['false'] }],
            dimensions: dimensionsOf('sessions', meta)
              .filter((id) => id !== 'sessions.isNew')
              .slice(0, 3),
          },
          {
            source: 'purchases',
            measure: 'purchases.count',
            sample: 'purchases.count',
            totals: known(['purchases.buyers', 'purchases.count', 'purchases.perBuyer']),
            rates: [],
            filters: [],
            dimensions: dimensionsOf('purchases', meta).slice(0, 4),
          },
        ],
        presences: [],
        asides: [
          { measure: 'sessions.count', dimension: 'sessions.isNew' },
          { measure: 'purchases.buyers', byTime: true },
          { measure: 'events.identifiedPeople' },
        ],
      }
    case 'impact':
      return {
        subjects: [
          {
            source: 'purchases',
            measure: 'purchases.influencedRevenue',
            sample: 'purchases.afterClick',
            totals: known([
              'purchases.influencedRevenue',
              'purchases.directRevenue',
              'purchases.influencedCount',
              'purchases.afterClick',
              'purchases.timeFromClick',
            ]),
            rates: [],
            filters: [],
            dimensions: [
              ...(Object.hasOwn(meta.dimensions, 'workflows.id') ? ['workflows.id'] : []),
              ...dimensionsOf('purchases', meta),
            ].slice(0, 7),
          },
        ],
        presences: [
          presence('displays', 'workflow_display'),
          presence('clicks', 'workflow_click'),
          presence('exposures', 'experiment_exposure'),
        ],
        asides: [],
      }
  }
}

function presence(id: Presence['id'], name: string): Presence {
  return { id, filters: [{ member: 'events.name', operator: 'equals', values: [name] }] }
}
