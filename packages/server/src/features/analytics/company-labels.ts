import { setTimeout as sleep } from 'node:timers/promises'
import type { Warning } from '@millrace/contract/envelope.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../platform/clock.ts'
import type { DefinitionReader } from './definitions/definition-reader.ts'
import { type LabelUse, unknownLabels, warnOfLabels } from './label-warnings.ts'
import { describeStatistics } from './statistics-meta.ts'
import type { LabelKeys, StatisticsStore } from './statistics-store.ts'

/** Milliseconds for which the labels of a company are cached. */
const freshFor = 10_000
/** Companies whose labels are remembered. */
const rememberedCompanies = 1_000
/** Milliseconds for which an answer waits for the warnings about its labels. */
const warningsMs = 1_000

interface Described {
  readonly at: number
  /** Which datasources were not read. */
  readonly without: string
  readonly labels: Promise<LabelKeys>
  /** Made on first use, and again when the setting changes. */
  meta?: { readonly exactCounts: boolean; readonly described: Promise<StatisticsMeta> }
}

/** The labels of the facts of each company, remembered for some seconds, and what is said by them. */
export function createCompanyLabels({
  store,
  definitions,
  clock,
}: {
  readonly store: Pick<StatisticsStore, 'hiddenNow' | 'listLabels'>
  readonly definitions: Pick<DefinitionReader, 'listTagKeys'>
  readonly clock: Clock
}) {
  const described = new LRUCache<string, Described>({ max: rememberedCompanies })

  /** The labels of a company, at most so many milliseconds old. */
  function labelsOf(companyId: string, maxAge: number): Described {
    const known = described.get(companyId)
    const without = store.hiddenNow()
    if (known?.without === without && clock.now() - known.at < maxAge) return known
    const labels = store.listLabels(companyId)
    const found: Described = { at: clock.now(), without, labels }
    described.set(companyId, found)
    labels.catch(() => {
      if (described.get(companyId) === found) described.delete(companyId)
    })
    return found
  }

  async function readWarnings(companyId: string, uses: readonly LabelUse[]): Promise<Warning[]> {
    if (uses.length === 0) return []
    const remembered = await labelsOf(companyId, freshFor).labels
    if (unknownLabels(uses, remembered).length === 0) return []
    // The label may be new.
    const known = await labelsOf(companyId, 0).labels
    return warnOfLabels(unknownLabels(uses, known), known)
  }

  async function describe(
    companyId: string,
    labels: Promise<LabelKeys>,
    exactCounts: boolean,
  ): Promise<StatisticsMeta> {
    const tagKeys = await definitions.listTagKeys(companyId)
    return describeStatistics(await labels, { exactCounts, tagKeys })
  }

  return {
    /** Warnings about labels that no fact has had. An answer without a warning is better than none. */
    async warnInTime(companyId: string, uses: readonly LabelUse[]): Promise<Warning[]> {
      return (await within(warningsMs, readWarnings(companyId, uses)).catch(() => undefined)) ?? []
    },

    async describe(companyId: string, exactCounts: boolean): Promise<StatisticsMeta> {
      const known = labelsOf(companyId, freshFor)
      if (known.meta?.exactCounts !== exactCounts) {
        known.meta = { exactCounts, described: describe(companyId, known.labels, exactCounts) }
      }
      return known.meta.described
    },
  }
}

/** The result of the work; undefined when it takes longer. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const late = new AbortController()
  try {
    return await Promise.race([work, sleep(milliseconds, undefined, { signal: late.signal })])
  } finally {
    late.abort()
  }
}
