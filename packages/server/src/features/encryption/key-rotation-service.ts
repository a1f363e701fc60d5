import { setTimeout as sleep } from 'node:timers/promises'
import { type SecretBox, SecretBoxError } from '../../platform/crypto/secret-box.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import { createKeyRegisterStore } from './key-register-store.ts'
import {
  createKeyRotationStore,
  everySealedColumn,
  type ReencryptedSecret,
  type SealedColumn,
  type SealedSecret,
  tableOf,
} from './key-rotation-store.ts'

export interface KeyRotationDependencies {
  readonly relational: Pick<Relational, 'db'>
  /** Secrets re-encrypted by one statement. */
  readonly batchSize?: number
  /** How often rows that were locked are tried. */
  readonly maxPasses?: number
}

/** What became of the secrets of one table; counts are rows. */
export interface RotatedTable {
  readonly table: string
  readonly reencrypted: number
  /** Sealed under the present key when it began. */
  readonly current: number
  /** Left, because their key is not given. */
  readonly missing: readonly { readonly keyId: string; readonly rows: number }[]
  /** Ids of secrets that cannot be opened although their key is given. */
  readonly damaged: readonly string[]
  /** Left under an older key: locked by others to the last, or sealed meanwhile. */
  readonly waiting: number
}

export interface KeyRotationReport {
  /** Id of the present key, under which everything is sealed afterwards. */
  readonly present: string
  readonly tables: readonly RotatedTable[]
  /** Ids of the other keys under which anything is sealed, in whatever column, given or not. */
  readonly needed: readonly string[]
  /** Ids of the older keys that were given and can be taken out. */
  readonly notNeeded: readonly string[]
}

export const isComplete = ({ tables, needed }: KeyRotationReport): boolean =>
  needed.length === 0 && tables.every(({ damaged }) => damaged.length === 0)

const pauseMs = 250

/** Re-encrypts under the present key what older keys have sealed, beside a running service. */
export function createKeyRotationService({
  relational,
  batchSize = 200,
  maxPasses = 20,
}: KeyRotationDependencies) {
  const store = createKeyRotationStore(relational.db)
  const register = createKeyRegisterStore(relational.db)

  function reencryptOne(box: SecretBox, context: string, read: SealedSecret): ReencryptedSecret | undefined {
    try {
      return { ...read, reencrypted: box.seal(box.open(read.secret, context), context) }
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined
      throw error
    }
  }

  /** Goes through the table once. Each batch is one statement, so that every secret can be opened wherever it stops. */
  async function pass(box: SecretBox, sealed: SealedColumn) {
    const [, ...older] = box.keyIds
    const damaged: string[] = []
    let [reencrypted, missed, after] = [0, 0, '']
    for (;;) {
      const began = performance.now()
      const found = await store.list(sealed, [...older, ''], after, batchSize)
      const secrets = found.flatMap((each) => {
        const done = reencryptOne(box, sealed.contextOf(each.id), each)
        if (!done) damaged.push(each.id)
        return done ?? []
      })
      const replaced = secrets.length === 0 ? 0 : await store.replace(sealed, secrets)
      reencrypted += replaced
      missed += secrets.length - replaced
      after = found.at(-1)?.id ?? after
      if (found.length < batchSize) return { reencrypted, missed, damaged }
      // Leaves half of the time to the running service.
      await sleep(performance.now() - began)
    }
  }

  async function rotateColumn(box: SecretBox, sealed: SealedColumn): Promise<RotatedTable> {
    const present = box.keyIds[0] ?? ''
    const current = (await store.countByKey(sealed)).get(present) ?? 0
    let reencrypted = 0
    let last = await pass(box, sealed)
    reencrypted += last.reencrypted
    for (let passes = 1; last.missed > 0 && passes < maxPasses; passes++) {
      await sleep(pauseMs)
      last = await pass(box, sealed)
      reencrypted += last.reencrypted
    }
    const left = [...(await store.countByKey(sealed))].filter(([keyId]) => keyId !== present)
    const isGiven = (keyId: string) => keyId === '' || box.keyIds.includes(keyId)
    const underGiven = left.reduce((sum, [keyId, rows]) => sum + (isGiven(keyId) ? rows : 0), 0)
    return {
      table: tableOf(sealed),
      reencrypted,
      current,
      missing: left.filter(([keyId]) => !isGiven(keyId)).map(([keyId, rows]) => ({ keyId, rows })),
      damaged: last.damaged,
      waiting: Math.max(0, underGiven - last.damaged.length),
    }
  }

  return {
    /**
     * May be stopped at any moment, repeated, and run several times at once.
     * @param box its first key is the present one
     * @throws DomainError `conflict` when no service has been started with the present key
     */
    async rotate(box: SecretBox): Promise<KeyRotationReport> {
      const [present = '', ...older] = box.keyIds
      const used = [...(await register.list()), ...(await register.listSealing())]
      if (!used.includes(present)) throw unknownToService(present)
      const tables: RotatedTable[] = []
      for (const sealed of everySealedColumn) tables.push(await rotateColumn(box, sealed))
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
