import {
  hasInteractionName,
  isInteraction,
  maxParameterNames,
  parameterPrefix,
} from '../../../database/workflow-columns.ts'
import type { Statement } from '../../../platform/stores/columnar.ts'
import { type BatchSize, isEvent, isPurchase, type Selection } from './staged-rows.ts'

/** Keys that are listed for one source of a company; labels with other keys can be queried, too. */
const maxKeys = { events: 2_000, purchases: 2_000, workflows: maxParameterNames } as const
/** Companies whose keys are cached. */
const rememberedCompanies = 100

/** Of `workflows` the keys are the names of the parameters that addresses of contents have. */
const sources = ['events', 'purchases', 'workflows'] as const
type Source = (typeof sources)[number]

interface LabelKey {
  readonly company: string
  readonly source: Source
  readonly key: string
  readonly datasource: string
}

type StagedKeys = Pick<LabelKey, 'company' | 'datasource'> & Readonly<Record<Source, readonly string[]>>

/** Datasources by the keys that events of theirs have. */
type StoredKeys = Readonly<Record<Source, Map<string, Set<string>>>>

function add(keys: StoredKeys, { source, key, datasource }: LabelKey): void {
  const datasources = keys[source].get(key)
  if (datasources) datasources.add(datasource)
  else keys[source].set(key, new Set([datasource]))
}

export interface LabelKeysDependencies {
  readonly ask: <R>(statement: Statement) => Promise<R[]>
  readonly insert: (rows: readonly LabelKey[]) => Promise<void>
  /** The condition that staged rows are what a selection takes. */
  readonly conditionsOf: (selection: Selection, of: string) => string
  /** Of a statement that reads a batch of a size. */
  readonly reading: (size: BatchSize) => Readonly<Record<string, number>>
}

/** Maintains the label keys of each company's events, so that listing them reads no events. */
export function createLabelKeys({ ask, insert, conditionsOf, reading }: LabelKeysDependencies) {
  /** Keys that are stored, by company. */
  const stored = new Map<string, StoredKeys>()

  async function storedOf(company: string): Promise<StoredKeys> {
    let keys = stored.get(company)
    if (keys === undefined) {
      keys = { events: new Map(), purchases: new Map(), workflows: new Map() }
      const rows = await ask<LabelKey>({
        sql: 'SELECT DISTINCT company, source, key, datasource FROM label_keys WHERE company = {company: String}',
        params: { company },
      })
      for (const row of rows) add(keys, row)
    }
    stored.delete(company)
    const [oldest] = stored.keys()
    if (stored.size >= rememberedCompanies && oldest !== undefined) stored.delete(oldest)
    stored.set(company, keys)
    return keys
  }

  return {
    /** Reads the keys of a company again before the next ones are stored. */
    forgetLabelKeys(company: string): void {
      stored.delete(company)
    },

    /**
     * Stores the label keys of staged events. A key that is stored already changes nothing.
     * @param hasInteractions whether some are interactions with workflows. The sender of a request for a content
     *   chooses its parameters, so these are listed apart and take no place of labels.
     */
    async insertLabelKeys(selection: Selection, hasInteractions: boolean): Promise<void> {
      const { table, size } = selection.staging
      const isParameter = `startsWith(key, '${parameterPrefix}')`
      const keysOf = (source: Source, keys: string, of: string): string =>
        `groupUniqArrayArrayIf(${maxKeys[source]})(${keys}, ${of}) AS ${source}`
      const columns = [
        keysOf(
          'events',
          hasInteractions
            ? `arrayFilter(key -> NOT (${hasInteractionName} AND ${isParameter}), mapKeys(l))`
            : 'mapKeys(l)',
          '1',
        ),
        keysOf('purchases', 'mapKeys(l)', isPurchase),
        hasInteractions
          ? keysOf(
              'workflows',
              `arrayMap(key -> substring(key, ${parameterPrefix.length + 1}),
                arrayFilter(key -> ${isParameter} AND length(key) > ${parameterPrefix.length}, mapKeys(l)))`,
              isInteraction,
            )
          : '[] AS workflows',
      ]
      const staged = await ask<StagedKeys>({
        sql: `SELECT k AS company, d AS datasource, ${columns.join(', ')}
              FROM ${table} WHERE ${conditionsOf(selection, `${isEvent} AND notEmpty(l)`)} GROUP BY k, d`,
        params: { purged: selection.purged },
        settings: reading(size),
      })
      const fresh: LabelKey[] = []
      for (const { company, datasource, ...keysBySource } of staged) {
        const known = await storedOf(company)
        for (const source of sources) {
          for (const key of keysBySource[source]) {
            const senders = known[source].get(key)
            if (senders?.has(datasource) || (!senders && known[source].size >= maxKeys[source])) continue
            const row = { company, source, key, datasource }
            add(known, row)
            fresh.push(row)
          }
        }
      }
      if (fresh.length === 0) return
      try {
        await insert(fresh)
      } catch (error) {
        for (const { company } of fresh) stored.delete(company)
        throw error
      }
    },
  }
}
