import { createSecretBox, type SecretBox } from '../../platform/crypto/secret-box.ts'
import { StartRefused } from '../../platform/start-refused.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import { createKeyRegisterStore } from './key-register-store.ts'

export interface KeyRegisterDependencies {
  readonly relational: Pick<Relational, 'transaction'>
}

export interface KeySources {
  /** Keys that the operator gives; the first seals, all open. */
  readonly given: readonly Buffer[] | undefined
  /**
   * Reads the data directory's own key, for where none is given.
   * @param mayMake whether a new one may be generated when there is none
   */
  readonly readOwn: (mayMake: boolean) => Buffer
}

/** Refuses a start without the keys of what is sealed in the database. */
export function createKeyRegister({ relational }: KeyRegisterDependencies) {
  return {
    /**
     * The box for this process; its first key is registered.
     * @throws StartRefused when something is sealed under a key that is missing, or when other processes use the
     *   database with another key
     */
    async open({ given, readOwn }: KeySources): Promise<SecretBox> {
      return relational.transaction(async (tx) => {
        const store = createKeyRegisterStore(tx)
        await store.lock()
        const [registered, sealing] = [await store.list(), await store.listSealing()]
        const box = createSecretBox(given ?? [readOwn(registered.length === 0 && sealing.length === 0)])
        const lacks = (id: string) => !box.keyIds.includes(id)
        const lost = sealing.filter(lacks)
        if (lost.length > 0) throw lostKeysError(lost, box)
        const idle = registered.filter(lacks)
        if (idle.length > 0 && !registered.some((id) => box.keyIds.includes(id)))
          throw wrongKeyError(idle, box)
        await store.forget(idle)
        await store.register(box.keyIds[0] ?? '')
        return box
      })
    },

    /**
     * Forgets the keys under which nothing is sealed, so that another can take their place.
     * @returns ids of the forgotten keys, and of those kept because something is sealed under them
     */
    async forgetIdle(): Promise<{ forgotten: string[]; kept: string[] }> {
      return relational.transaction(async (tx) => {
        const store = createKeyRegisterStore(tx)
        await store.lock()
        const [registered, sealing] = [await store.list(), await store.listSealing()]
        const forgotten = registered.filter((id) => !sealing.includes(id))
        await store.forget(forgotten)
        return { forgotten, kept: sealing }
      })
    },
  }
}

export type KeyRegister = ReturnType<typeof createKeyRegister>

const given = ({ keyIds }: SecretBox): string => `Given: ${keyIds.join(', ')}.`

function lostKeysError(lost: readonly string[], box: SecretBox): StartRefused {
  return new StartRefused(
    'unsuitable',
    [
      `Secrets in the database are sealed under a key that is not given: ${lost.join(', ')}. ${given(box)}`,
      'Give it in MILLRACE_ENCRYPTION_KEY, after the present key and a comma, or restore encryption.key of the data directory.',
    ].join('\n'),
  )
}

function wrongKeyError(idle: readonly string[], box: SecretBox): StartRefused {
  return new StartRefused(
    'unsuitable',
    [
      `This database is used with another encryption key: ${idle.join(', ')}. ${given(box)}`,
      'All processes on one database need the same one: give it to each in MILLRACE_ENCRYPTION_KEY.',
      'If that key is lost for good: nothing is sealed under it, and npm run millrace -- key forget lets another take its place.',
    ].join('\n'),
  )
}
