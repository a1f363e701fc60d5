import { setImmediate as letOthers } from 'node:timers/promises'
import type { Datasource } from '@millrace/contract/resources/datasource.ts'
import { auditEventOf } from '../../../platform/audit.ts'
import { newId } from '../../../platform/ids.ts'
import { invalid } from '../../../platform/invalid.ts'
import { requireRoom } from '../../../platform/resources/resource.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { CollectorService } from '../../events/collector/collector-service.ts'
import type { Caller } from '../../identity/sessions/principal.ts'
import { maxDatasources } from '../datasource-rules.ts'
import type { DatasourceService } from '../datasource-service.ts'
import { createDatasourceStore, type StoredDatasource } from '../datasource-store.ts'
import { type SampleEvent, type SampleSender, sampleEvents } from './sample-events.ts'

export interface SampleDataDependencies
  extends Pick<ServiceContext, 'relational' | 'recordAudit' | 'lockCompany'> {
  readonly datasources: Pick<DatasourceService, 'read' | 'delete'>
  readonly collector: Pick<CollectorService, 'find' | 'collect' | 'loadCountries'>
}

const name = 'Sample shop'
/** Events of one call of the collector: few enough that nobody waits for them. */
const pieceSize = 100

export type SampleDataService = ReturnType<typeof createSampleDataService>

/** The sample data of a company: a datasource of its own, filled by the collector as any other. */
export function createSampleDataService(dependencies: SampleDataDependencies) {
  const { relational, recordAudit, lockCompany, datasources, collector } = dependencies
  const store = createDatasourceStore(relational.db)
  /** By datasource, in this process. */
  const filling = new Map<string, Promise<void>>()

  function create(caller: Caller): Promise<StoredDatasource> {
    const { companyId, teamIds } = caller.principal
    return relational.transaction(async (tx) => {
      await lockCompany(tx, companyId)
      const within = createDatasourceStore(tx)
      const present = await within.findSampleData(companyId)
      if (present) {
        await within.addTeams(companyId, present.id, teamIds)
        return present
      }
      requireRoom('tooManyDatasources', maxDatasources, await within.countOfCompany(companyId))
      const id = newId()
      await within.insert({ id, companyId, name, teamIds, sampleData: 'filling' })
      const details = { mode: 'ingester', teamIds, sampleData: true }
      await recordAudit(
        tx,
        auditEventOf(caller, 'datasource-create', { kind: 'datasource', id, name }, details),
      )
      const made = await within.findSampleData(companyId)
      if (!made) throw new Error('the sample data is not there')
      return made
    })
  }

  async function send({ id, companyId, createdAt }: StoredDatasource, address: string): Promise<void> {
    const datasource = await collector.find(id, address)
    // A paused one takes nothing.
    if (!datasource) return
    // Without it the first events would have no country.
    await collector.loadCountries()
    const pieces = new Map<SampleSender['userAgent'], SampleEvent[]>()
    const collect = async (piece: readonly SampleEvent[]): Promise<void> => {
      const [first] = piece
      if (!first) return
      const { userAgent, address } = first.sender
      const events = piece.map(({ event }) => event)
      await collector.collect(datasource, { events, dropped: [] }, userAgent, address)
      await letOthers()
    }
    // By the time of its making, so that what is sent again counts once.
    for (const made of sampleEvents({
      companyId,
      prefix: `sample-${id.slice(-8)}`,
      end: createdAt.getTime(),
    })) {
      const key = `${made.sender.address} ${made.sender.userAgent}`
      const piece = pieces.get(key) ?? []
      piece.push(made)
      if (piece.length < pieceSize) pieces.set(key, piece)
      else {
        pieces.delete(key)
        await collect(piece)
      }
    }
    for (const piece of pieces.values()) await collect(piece)
    await store.update(companyId, id, { sampleData: 'filled' })
  }

  return {
    /** @throws DomainError `validation`, `tooManyDatasources`, `collectorOverloaded` or `eventsNotDurable` */
    async create(caller: Caller): Promise<Datasource> {
      const { principal, address } = caller
      if (principal.teamIds.length === 0) throw invalid('resourceGroupIds', 'You are a member of no team')
      const made = await create(caller)
      if (made.sampleData === 'filling') {
        const sending = filling.get(made.id) ?? send(made, address).finally(() => filling.delete(made.id))
        filling.set(made.id, sending)
        await sending
      }
      return datasources.read(principal, made.id)
    },

    /** @throws DomainError `datasourceInUse` */
    async delete(caller: Caller): Promise<void> {
      const { principal } = caller
      const present = await store.findSampleData(principal.companyId)
      if (!present) return
      // It is the company's, whichever of its teams see it.
      await datasources.delete(
        { ...caller, principal: { ...principal, teamIds: present.teamIds } },
        present.id,
        { isFinal: true, confirm: present.name },
      )
    },
  }
}
