import { setTimeout as sleep } from 'node:timers/promises'
import { type SecretBox, SecretBoxError } from '../../platform/crypto/secret-box.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import { createKeyRegisterStore } from './key-register-store.ts'
import {
  createResealStore,
  everySealedColumn,
  type ResealedSecret,
  type SealedColumn,
  type SealedSecret,
  tableOf,
} from './reseal-store.ts'

export interface ResealDependencies {
  readonly relational: Pick<Relational, 'db'>
  /** Secrets that are sealed anew in one statement. */
  readonly batchSize?: number
  /** How often what somebody else held is tried again. */
  readonly mostPasses?: number
}

/** What became of the secrets of one table, in rows. */
export interface ResealedTable {
  readonly table: string
  readonly resealed: number
  /** Sealed under the present key when it began. */
  readonly current: number
  /** Left, because their key is not given. */
  readonly missing: readonly { readonly keyId: string; readonly rows: number }[]
  /** Ids of those left that do not open, though their key is given. */
  readonly damaged: readonly string[]
  /** Left under an older key: held by somebody else to the last, or sealed meanwhile. */
  readonly waiting: number
}

export interface ResealReport {
  /** Id of the key under which everything is to be sealed. */
  readonly present: string
  readonly tables: readonly ResealedTable[]
  /** Ids of the other keys under which anything is sealed, in whatever column, given or not. */
  readonly needed: readonly string[]
  /** Ids of the older keys that were given and can be taken out. */
  readonly notNeeded: readonly string[]
}

export const isComplete = ({ tables, needed }: ResealReport): boolean =>
  needed.length === 0 && tables.every(({ damaged }) => damaged.length === 0)

const pauseMs = 250

/** Seals anew, under the present key, what older ones have sealed, beside a running service. */
export function createResealService({ relational, batchSize = 200, mostPasses = 20 }: ResealDependencies) {
  const store = createResealStore(relational.db)
  const register = createKeyRegisterStore(relational.db)

  function resealOne(box: SecretBox, context: string, read: SealedSecret): ResealedSecret | undefined {
    try {
      return { ...read, resealed: box.seal(box.open(read.secret, context), context) }
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined
      throw error
    }
  }

  /** Once through the table, in batches that each are one statement: wherever it ends, every secret opens. */
  async function pass(box: SecretBox, sealed: SealedColumn) {
    const [, ...older] = box.keyIds
    const damaged: string[] = []
    let [resealed, missed, after] = [0, 0, '']
    for (;;) {
      const began = performance.now()
      const found = await store.list(sealed, [...older, ''], after, batchSize)
      const secrets = found.flatMap((each) => {
        const done = resealOne(box, sealed.contextOf(each.id), each)
        if (!done) damaged.push(each.id)
        return done ?? []
      })
      const replaced = secrets.length === 0 ? 0 : await store.replace(sealed, secrets)
      resealed += replaced
      missed += secrets.length - replaced
      after = found.at(-1)?.id ?? after
      if (found.length < batchSize) return { resealed, missed, damaged }
      // Half of the time belongs to the service beside this.
      await sleep(performance.now() - began)
    }
  }

  async function resealColumn(box: SecretBox, sealed: SealedColumn): Promise<ResealedTable> {
    const present = box.keyIds[0] ?? ''
    const current = (await store.countByKey(sealed)).get(present) ?? 0
    let resealed = 0
    let last = await pass(box, sealed)
    resealed += last.resealed
    for (let passes = 1; last.missed > 0 && passes < mostPasses; passes++) {
      await sleep(pauseMs)
      last = await pass(box, sealed)
      resealed += last.resealed
    }
    const left = [...(await store.countByKey(sealed))].filter(([keyId]) => keyId !== present)
    const isGiven = (keyId: string) => keyId === '' || box.keyIds.includes(keyId)
    const underGiven = left.reduce((sum, [keyId, rows]) => sum + (isGiven(keyId) ? rows : 0), 0)
    return {
      table: tableOf(sealed),
      resealed,
      current,
      missing: left.filter(([keyId]) => !isGiven(keyId)).map(([keyId, rows]) => ({ keyId, rows })),
      damaged: last.damaged,
      waiting: Math.max(0, underGiven - last.damaged.length),
    }
  }

  return {
    /**
     * May be ended at any moment, run again, and run several times at once.
     * @param box its first key is the present one
     * @throws DomainError `conflict` when no service has been started with the present key
     */
    async reseal(box: SecretBox): Promise<ResealReport> {
      const [present = '', ...older] = box.keyIds
      const used = [...(await register.list()), ...(await register.listSealing())]
      if (!used.includes(present)) throw unknownToService(present)
      const tables: ResealedTable[] = []
      for (const sealed of everySealedColumn) tables.push(await resealColumn(box, sealed))
      const needed = (await register.listSealing()).filter((id) => id !== present)
      const notNeeded = [...new Set(older)].filter((id) => id !== present && !needed.includes(id))
      return { present, tables, needed, notNeeded }
    },
  }
}

function unknownToService(present: string): DomainError {
  return new DomainError(
    'conflict',
    {},
    {
      message: `No service has been started with the key ${present}, and none could open what is sealed under it: start it with this key in front of MILLRACE_ENCRYPTION_KEY and the older ones behind it, then run this again`,
    },
  )
}
