import type { PersonReference } from '@millrace/contract/resources/person-data.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { SecretBox } from '../../../../platform/crypto/secret-box.ts'
import type { Logger } from '../../../../platform/logger.ts'
import type { EventLog, Position } from '../../../../platform/stores/event-log.ts'
import { lineOf, logRow } from '../../collector/rows/event-row.ts'
import type { ErasedPersons } from '../../persons/erased-persons.ts'
import { type ErasureStore, type OpenErasure, referenceContext } from '../../persons/erasure-store.ts'
import { digestsOf } from '../../persons/person-digests.ts'
import {
  identifiersOf,
  longIdentifier,
  type Person,
  type PersonRowsStore,
  type PersonTable,
  rowsOfPerson,
  textTables,
} from '../../persons/person-rows-store.ts'
import type { RemovalStore } from './removal-store.ts'
import type { Removal, RemovalHooks } from './remover.ts'

/** Who is meant, to those who know nothing of events. */
export interface ErasedPerson {
  readonly companyId: string
  /** Texts that name the person. */
  readonly identifiers: readonly string[]
  /** Those of them that name it as a part of a text too. */
  readonly longIdentifiers: readonly string[]
  /** Hashes of them with the salt of the company. */
  readonly digests: readonly string[]
}

/** What names persons and is no event. */
export interface OtherPlace {
  /** Of the count in the receipt. */
  readonly name: string
  count(person: ErasedPerson, signal: AbortSignal): Promise<number>
  /** Can be repeated. */
  remove(person: ErasedPerson, signal: AbortSignal): Promise<void>
}

export interface ErasureDependencies {
  readonly erasures: Pick<ErasureStore, 'findOpen' | 'refuse' | 'noteFound' | 'finish'>
  readonly persons: Pick<PersonRowsStore, 'resolve' | 'resolveDigests' | 'findTexts' | 'findLabelKeys'>
  readonly others: readonly OtherPlace[]
  readonly store: Pick<RemovalStore, 'count' | 'remove' | 'recomputeOrders'>
  readonly box: Pick<SecretBox, 'open' | 'seal'>
  /** Of whom the collector takes no events. */
  readonly erased: Pick<ErasedPersons, 'refresh' | 'forgetExpired'>
  readonly log: Pick<EventLog, 'reserve' | 'append' | 'end'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info'>
  /** Keeps it beside the backups, before it counts as done: a restore of an earlier one repeats it. */
  readonly recordErasure: (record: ErasureRecord) => Promise<void>
}

/** Holds nothing of the person. */
export interface ErasureRecord extends Pick<OpenErasure, 'id' | 'companyId' | 'requestedBy' | 'refuseUntil'> {
  /** ISO 8601. */
  readonly finishedAt: string
  /** Hashes of the identifiers with the salt of the company, which is not here. */
  readonly digests: readonly string[]
}

/** In this order: what is found by events goes before them. */
const tables: readonly PersonTable[] = [
  'purchases',
  'person_events',
  'workflow_events',
  'identities',
  'cohort_persons',
  'events',
]

/** Who is to be removed, and how many rows of each table there were of it. */
interface Found {
  readonly person: Person
  readonly removed: Readonly<Record<string, number>>
}

/** Removes persons whose erasure was asked for. */
export function createErasure(dependencies: ErasureDependencies): Removal {
  const { erasures, persons, others, store, box, erased, log, clock, logger, recordErasure } = dependencies

  /**
   * What was taken before lies in segments of the log in front of this note, which are removed once they are loaded.
   * @returns where the log ends behind it
   */
  async function noteInLog({ companyId, datasourceId }: OpenErasure): Promise<Position> {
    if (datasourceId !== null) {
      const note = { kind: 'noted', rule: 'erasure-begun', path: '', sample: '', count: 1 } as const
      const sequence = log.reserve(1)
      const row = logRow(note, { companyId, datasourceId, receivedAt: clock.now() })
      await log.append(lineOf(sequence, row), 1, sequence, 'newSegment')
    }
    return log.end()
  }

  /**
   * First nothing more is taken of the person, then everything that was taken before is loaded. That may tell of further
   * devices, which are refused as well, until there are no new ones.
   */
  async function gather(erasure: OpenErasure, hooks: RemovalHooks, signal: AbortSignal): Promise<Person> {
    const { companyId, salt, digests } = erasure
    const reference = digests ? undefined : read<PersonReference>(erasure)
    for (;;) {
      const person = reference
        ? await persons.resolve(companyId, reference, signal)
        : await persons.resolveDigests(companyId, salt, digests ?? [], signal)
      if (digests) await erasures.refuse(erasure, digests)
      const added = await erasures.refuse(erasure, digestsOf(person, erasure.salt))
      await erased.refresh()
      await hooks.loaded(await noteInLog(erasure), signal)
      if (added === 0) return person
    }
  }

  /** Who it is and how much there is of it, noted before the first row goes: the rows that tell it are removed too. */
  async function find(erasure: OpenErasure, hooks: RemovalHooks, signal: AbortSignal): Promise<Found> {
    if (erasure.isFound) return read<Found>(erasure)
    const person = await gather(erasure, hooks, signal)
    const removed: Record<string, number> = {}
    for (const table of tables) {
      removed[table] = await store.count(table, rowsOfPerson(table, person), signal)
    }
    for (const place of others) removed[place.name] = await place.count(toOthers(erasure, person), signal)
    const found: Found = { person, removed }
    await erasures.noteFound(erasure, box.seal(JSON.stringify(found), referenceContext(erasure.id)))
    return found
  }

  function toOthers({ digests, salt }: OpenErasure, person: Person): ErasedPerson {
    const identifiers = identifiersOf(person)
    return {
      companyId: person.companyId,
      identifiers,
      longIdentifiers: identifiers.filter(({ length }) => length >= longIdentifier),
      digests: digests ?? digestsOf(person, salt),
    }
  }

  const read = <T>({ id, sealedReference }: OpenErasure): T => {
    if (!sealedReference) throw new Error('an erasure that is not repeated says who is meant')
    return JSON.parse(box.open(sealedReference, referenceContext(id)).toString('utf8')) as T
  }

  async function remove(
    person: Person,
    { betweenBatches, onRemoved }: RemovalHooks,
    signal: AbortSignal,
  ): Promise<void> {
    const purchases = rowsOfPerson('purchases', person)
    // No batch may compute an order of purchases that go.
    await betweenBatches(async () => {
      await store.recomputeOrders(purchases, purchases, signal)
      await store.remove('purchases', purchases, signal)
    })
    for (const table of tables) await store.remove(table, rowsOfPerson(table, person), signal)
    for (const table of textTables) {
      for (;;) {
        const rows = await persons.findTexts(table, person, signal)
        if (!rows) break
        await store.remove(table, rows, signal)
      }
    }
    const keys = await persons.findLabelKeys(person, signal)
    if (keys) await store.remove('label_keys', keys, signal)
    if (keys) onRemoved([person.companyId])
  }

  return {
    name: 'the rows of erased persons',
    async run(hooks, signal) {
      await erased.forgetExpired()
      const erasure = await erasures.findOpen()
      if (!erasure) return false
      const { person, removed } = await find(erasure, hooks, signal)
      await remove(person, hooks, signal)
      for (const place of others) await place.remove(toOthers(erasure, person), signal)
      const { id, companyId, requestedBy, refuseUntil, salt } = erasure
      await recordErasure({
        ...{ id, companyId, requestedBy, refuseUntil },
        finishedAt: new Date(clock.now()).toISOString(),
        digests: erasure.digests ?? digestsOf(person, salt),
      })
      await erasures.finish(erasure, removed)
      logger.info({ erasure: erasure.id, companyId: erasure.companyId, removed }, 'a person is erased')
      return true
    },
  }
}
