import { Readable } from 'node:stream'
import type {
  PersonErasure,
  PersonErasureRequest,
  PersonMatch,
  PersonReference,
} from '@millrace/contract/resources/person-data.ts'
import { auditEventOf } from '../../../platform/audit.ts'
import type { SecretBox } from '../../../platform/crypto/secret-box.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalid } from '../../../platform/invalid.ts'
import type { Listed, Page } from '../../../platform/paging.ts'
import { found, requireRoom } from '../../../platform/resources/resource.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import { assertMayExport } from '../../../platform/statistics-rights.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import { createErasureStore, referenceContext } from './erasure-store.ts'
import { digestsOf } from './person-digests.ts'
import { exportedTables, type Person, type PersonCounts, type PersonRowsStore } from './person-rows-store.ts'

interface DigestedPerson {
  readonly companyId: string
  readonly digests: readonly string[]
}

export interface PersonDataDependencies
  extends Pick<ServiceContext, 'relational' | 'recordAudit' | 'lockCompany'> {
  readonly rows: PersonRowsStore
  /** Rows of datasources that name a person. */
  readonly otherRows: {
    count(person: DigestedPerson, signal: AbortSignal): Promise<number>
    list(
      person: DigestedPerson,
      signal: AbortSignal,
    ): AsyncIterable<{ readonly datasource: string; readonly row: object }>
  }
  readonly box: Pick<SecretBox, 'seal'>
  /** Waits for one of the company's places to ask the engine, and gives the function that leaves it. */
  readonly enter: (companyId: string, signal: AbortSignal) => Promise<() => void>
}

const defaultRefuseDays = 30
/** Of one company, at once. */
const maxOpen = 1_000

const kinds = ['clientIds', 'tmpIds', 'orders', 'emails'] as const

function referenceOf(asked: PersonReference): PersonReference {
  const reference: PersonReference = {}
  for (const kind of kinds) if (asked[kind] !== undefined) reference[kind] = asked[kind]
  if (Object.keys(reference).length === 0)
    throw invalid('clientIds', 'is required, or one of tmpIds, orders and emails: it says who is meant')
  return reference
}

/** As many persons as a reference names; a device may be that of one. */
const namedIn = (reference: PersonReference): number =>
  Math.max(1, ...kinds.map((kind) => (kind === 'tmpIds' ? 1 : (reference[kind]?.length ?? 0))))

const confirmationOf = (reference: PersonReference, { persons }: PersonCounts): string | null =>
  persons > namedIn(reference) ? `erase ${persons} persons` : null

const instantOf = ({ events }: PersonCounts, time: number): string | null =>
  events === 0 ? null : new Date(time).toISOString()

const about = `Each line is a JSON object. "table" says what it is: "event" an event as it was collected, "order" an order \
that was computed of such events, "binding" a device (tmp_id) that was bound to a person (client_id), "cohort" a list that \
names the person, "row" a row of a datasource that does. Times are UTC. "value" is an amount in the currency that the sender used. The line with "table": "end" is \
the last one of a complete export.`

export type PersonDataService = ReturnType<typeof createPersonDataService>

/** What is stored of one person: seeing, exporting and erasing it. */
export function createPersonDataService(dependencies: PersonDataDependencies) {
  const { relational, recordAudit, lockCompany, rows, otherRows, box, enter } = dependencies

  async function count(companyId: string, reference: PersonReference, signal: AbortSignal) {
    const leave = await enter(companyId, signal)
    try {
      const person = await rows.resolve(companyId, reference, signal)
      const counts = await rows.count(person, signal)
      return { ...counts, rows: await otherRows.count(await digestedOf(person), signal) }
    } finally {
      leave()
    }
  }

  async function digestedOf(person: Person): Promise<DigestedPerson> {
    const salt = await createErasureStore(relational.db).readSalt(person.companyId)
    return { companyId: person.companyId, digests: digestsOf(person, salt) }
  }

  const company = ({ companyId }: Principal) => ({ kind: 'company', id: companyId })

  /** The rows of all tables, one after the other, as they are read. */
  async function* linesOf(person: Person, signal: AbortSignal): AsyncGenerator<Buffer> {
    const identifiers = { clientIds: person.clientIds, devices: [...person.tmpIds, ...person.anonymous] }
    yield Buffer.from(`${JSON.stringify({ table: 'about', text: about, ...identifiers })}\n`)
    for (const table of exportedTables) {
      for await (const chunk of await rows.stream(table, person, signal)) yield chunk as Buffer
    }
    for await (const { datasource, row } of otherRows.list(await digestedOf(person), signal)) {
      yield Buffer.from(`${JSON.stringify({ table: 'row', datasource, row })}\n`)
    }
    yield Buffer.from('{"table":"end"}\n')
  }

  return {
    /** @throws DomainError `validation`, `personTooLarge` or `tooManyRequests` */
    async search(caller: Caller, asked: PersonReference, signal: AbortSignal): Promise<PersonMatch> {
      const { companyId } = caller.principal
      const reference = referenceOf(asked)
      const counts = await count(companyId, reference, signal)
      const { events, purchases, persons, devices, rows: otherRows, earliest, latest } = counts
      await recordAudit(
        relational.db,
        auditEventOf(caller, 'person-search', company(caller.principal), { events }),
      )
      return {
        ...{ events, purchases, persons, devices, rows: otherRows },
        earliest: instantOf(counts, earliest),
        latest: instantOf(counts, latest),
        confirm: confirmationOf(reference, counts),
      }
    },

    /** @throws DomainError `forbidden`, `validation`, `personTooLarge` or `tooManyRequests` */
    async export(caller: Caller, asked: PersonReference, signal: AbortSignal): Promise<Readable> {
      const { principal } = caller
      assertMayExport(principal)
      const reference = referenceOf(asked)
      const leave = await enter(principal.companyId, signal)
      try {
        const person = await rows.resolve(principal.companyId, reference, signal)
        await recordAudit(relational.db, auditEventOf(caller, 'person-export', company(principal)))
        return Readable.from(linesOf(person, signal), { objectMode: false }).once('close', leave)
      } catch (error) {
        leave()
        throw error
      }
    },

    /**
     * Asks for an erasure, which the process that loads carries out (features/events/loading/removals/erasure.ts).
     * @throws DomainError `validation`, `personsNotConfirmed`, `personTooLarge`, `tooManyErasures` or `tooManyRequests`
     */
    async erase(caller: Caller, asked: PersonErasureRequest, signal: AbortSignal): Promise<PersonErasure> {
      const { companyId, userId } = caller.principal
      const { refuseDays = defaultRefuseDays, confirm } = asked
      const reference = referenceOf(asked)
      const counts = await count(companyId, reference, signal)
      const expected = confirmationOf(reference, counts)
      if (expected !== null && confirm !== expected) {
        const { persons, events } = counts
        throw new DomainError(
          'personsNotConfirmed',
          { persons, events, confirm: expected },
          {
            message: `${persons} persons with ${events} events are meant: send confirm "${expected}" to erase them all`,
          },
        )
      }
      const id = newId()
      const sealedReference = box.seal(JSON.stringify(reference), referenceContext(id))
      return relational.transaction(async (tx) => {
        await lockCompany(tx, companyId)
        const store = createErasureStore(tx)
        requireRoom('tooManyErasures', maxOpen, await store.countOpen(companyId))
        const erasure = { id, companyId, requestedBy: userId, sealedReference, refuseDays }
        const inserted = await store.insert(erasure)
        await recordAudit(
          tx,
          auditEventOf(caller, 'person-erase', { kind: 'person-erasure', id }, { refuseDays }),
        )
        return inserted
      })
    },

    listErasures: ({ companyId }: Principal, page: Page): Promise<Listed<PersonErasure>> =>
      createErasureStore(relational.db).list(companyId, page),

    /** @throws DomainError `erasureNotFound` */
    async readErasure({ companyId }: Principal, id: string): Promise<PersonErasure> {
      const erasure = await createErasureStore(relational.db).find(companyId, normalizeId(id))
      return found(erasure, 'erasureNotFound', id)
    },
  }
}
