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

/** A subject of a source: its measure and those that are told beside it, by their names within the source. */
function guidedSubject(
  meta: StatisticsMeta,
  source: string,
  [measure = '', ...others]: readonly string[],
  more: Partial<Omit<Subject, 'source' | 'measure' | 'totals' | 'dimensions'>> & {
    readonly maxDimensions?: number
    readonly dimensions?: readonly string[]
  } = {},
): Subject {
  const { maxDimensions, dimensions = dimensionsOf(source, meta), ...own } = more
  const ids = [measure, ...others].map((name) => `${source}.${name}`)
  return {
    ...{ source, measure: `${source}.${measure}`, sample: `${source}.count`, rates: [], filters: [] },
    ...own,
    totals: ids.filter((id) => Object.hasOwn(meta.measures, id)),
    dimensions: dimensions.slice(0, maxDimensions),
  }
}

const rate = (id: string): Rate[] => (rates[id] ? [rates[id]] : [])
const listed = (names: string) => names.split(' ')

/** The queries' subjects of each guided analysis (docs/reports.md, What a report says). */
export function guidedPlan(analysis: GuidedAnalysisName, meta: StatisticsMeta): GuidedPlan {
  switch (analysis) {
    case 'revenue': {
      const told = listed('revenue count buyers averageOrderValue revenuePerBuyer referencesPerPurchase')
      const rates = rate('purchases.averageOrderValue')
      return { subjects: [guidedSubject(meta, 'purchases', told, { rates })], presences: [], asides: [] }
    }
    case 'engagement': {
      const told = listed('count people perPerson duration eventsPerSession bounceRate')
      // Those that are read from the text of an address take longest: channels tell most of them.
      const maxDimensions = 4
      return {
        subjects: [
          guidedSubject(meta, 'sessions', told, { rates: rate('sessions.bounceRate'), maxDimensions }),
          guidedSubject(meta, 'events', listed('count people perPerson'), { maxDimensions }),
        ],
        presences: [],
        asides: [],
      }
    }
    case 'retention':
      return {
        subjects: [
          {
            ...guidedSubject(meta, 'sessions', ['people', 'perPerson'], {
              name: 'returningSessions',
              // Those of persons who were there before.
              filters: [{ member: 'sessions.isNew', operator: 'equals', values: ['false'] }],
              dimensions: dimensionsOf('sessions', meta).filter((id) => id !== 'sessions.isNew'),
              maxDimensions: 3,
            }),
            measure: 'sessions.count',
          },
          {
            ...guidedSubject(meta, 'purchases', listed('buyers count perBuyer'), { maxDimensions: 4 }),
            measure: 'purchases.count',
          },
        ],
        presences: [],
        asides: [
          { measure: 'sessions.count', dimension: 'sessions.isNew' },
          { measure: 'purchases.buyers', byTime: true },
          { measure: 'events.identifiedPeople' },
        ],
      }
    case 'impact': {
      const told = listed('influencedRevenue directRevenue influencedCount afterClick timeFromClick')
      const workflow = ['workflows.id'].filter((id) => Object.hasOwn(meta.dimensions, id))
      const dimensions = [...workflow, ...dimensionsOf('purchases', meta)]
      const more = { sample: 'purchases.afterClick', dimensions, maxDimensions: 7 }
      return {
        subjects: [guidedSubject(meta, 'purchases', told, more)],
        presences: [
          presence('displays', 'workflow_display'),
          presence('clicks', 'workflow_click'),
          presence('exposures', 'experiment_exposure'),
        ],
        asides: [],
      }
    }
  }
}

function presence(id: Presence['id'], name: string): Presence {
  return { id, filters: [{ member: 'events.name', operator: 'equals', values: [name] }] }
}
