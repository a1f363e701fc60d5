import { DomainError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import { holdLease, leaseSeconds } from '../../platform/work/lease.ts'
import { createStorageStore } from './storage-store.ts'

export interface StorageServiceDependencies extends Pick<ServiceContext, 'relational' | 'log'> {
  /** Of one company. */
  readonly maxBytes: number
}

/** Room that a company has for something until it is stored, or given up. */
export interface StorageHold {
  /**
   * Makes sure of room for so many bytes in all.
   * @throws DomainError `storageFull`
   */
  require(bytes: number): Promise<void>
  /**
   * Ends the hold inside the transaction that says what was stored and how many bytes it has.
   * @throws DomainError `storageFull`
   */
  settle(tx: Queries, bytes: number): Promise<void>
}

/** Calls the work with room for so many bytes of a company, which is given back when it ends. */
export type HoldStorage = <T>(
  companyId: string,
  bytes: number,
  work: (hold: StorageHold) => Promise<T>,
) => Promise<T>

/** Asked for beyond what is needed, where there is so much, so that not each piece is a transaction. */
const stepBytes = 64 * 1024 * 1024

/** The bound of what a company stores, in all processes together: room is taken before anything is written. */
export function createStorageService({ relational, maxBytes, log }: StorageServiceDependencies) {
  const store = createStorageStore(relational.db)

  /** What may be added; the company's other holds wait for the end of the transaction. */
  async function countFree(tx: Queries, companyId: string, asked: number): Promise<number> {
    const within = createStorageStore(tx)
    const used = await within.countBytes(companyId)
    if (used + asked <= maxBytes) return maxBytes - used
    const message = `Your company may store ${maxBytes} bytes: ${used} are used, and ${asked} more are asked for. Delete datasources, contents, exports or saved queries with results that are not needed, or ask the operator for more`
    throw new DomainError('storageFull', { limit: maxBytes, used, asked, unit: 'bytes' }, { message })
  }

  const hold: HoldStorage = async (companyId, bytes, work) => {
    const id = newId()
    let held = 0
    async function take(wanted: number): Promise<void> {
      held = await relational.transaction(async (tx) => {
        const within = createStorageStore(tx)
        await within.lock(companyId)
        const free = await countFree(tx, companyId, wanted - held)
        const granted = Math.min(held + free, held === 0 ? wanted : wanted + stepBytes)
        await within.put(id, companyId, granted, leaseSeconds)
        return granted
      })
    }
    await take(bytes)
    const lease = holdLease({
      keep: (seconds) => store.keep(id, seconds),
      onError: (error) => log.warn({ err: error }, 'the lease of a hold on storage was not extended'),
    })
    try {
      return await work({
        async require(needed) {
          if (needed > held) await take(needed)
        },
        async settle(tx, stored) {
          const within = createStorageStore(tx)
          await within.lock(companyId)
          await within.remove(id, companyId)
          await countFree(tx, companyId, stored)
        },
      })
    } finally {
      lease.end()
      await store.remove(id, companyId).catch((error: unknown) => {
        log.warn({ err: error }, 'a hold on storage was not given back; it ends by itself')
      })
    }
  }

  return { hold, measure: store.measure }
}

export type StorageService = ReturnType<typeof createStorageService>
