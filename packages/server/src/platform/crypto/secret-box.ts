import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { RandomBytes } from './secrets.ts'

/** Seals what must be readable again (addresses with secrets, keys, mails), so that a copy of the database is not enough. */
export type SecretBox = ReturnType<typeof createSecretBox>

export class SecretBoxError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'SecretBoxError'
  }
}

/** Sealed under a key that this process was not given; another one may have it. */
export class UnknownSecretKey extends SecretBoxError {
  constructor(keyId: string) {
    super(`the key ${keyId} is not among the given ones`)
    this.name = 'UnknownSecretKey'
  }
}

export const encryptionKeyBytes = 32
const format = 1
const keyIdBytes = 4
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + keyIdBytes

/** Names a key without telling anything about it. */
function keyIdOf(key: Buffer): Buffer {
  return createHash('sha256').update('millrace encryption key\0').update(key).digest().subarray(0, keyIdBytes)
}

/**
 * A sealed secret is one byte of format, four that name the key, a nonce of twelve, the tag of sixteen and the
 * text; head and context are authenticated.
 * @param keys of 32 bytes; the first seals, all open
 */
export function createSecretBox(keys: readonly Buffer[], random: RandomBytes = randomBytes) {
  const [present] = keys
  if (!present || keys.some((key) => key.length !== encryptionKeyBytes))
    throw new SecretBoxError(`an encryption key has ${encryptionKeyBytes} bytes`)
  const known = keys.map((key) => ({ id: keyIdOf(key), key }))
  const head = Buffer.concat([Buffer.from([format]), keyIdOf(present)])
  const associated = (start: Buffer, context: string) =>
    Buffer.concat([start, Buffer.from(`\0${context}`, 'utf8')])

  return {
    /** Ids of the keys, the present one first. */
    keyIds: known.map(({ id }) => id.toString('hex')),

    /**
     * AES-256-GCM under the present key.
     * @param context what the secret belongs to, as `linked-account:<id>`; it opens in the same context only
     */
    seal(plain: string | Buffer, context: string): Buffer {
      const nonce = random(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', present, nonce).setAAD(associated(head, context))
      const text = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([head, nonce, cipher.getAuthTag(), text])
    },

    /** @throws SecretBoxError when the context is another or a byte was changed; UnknownSecretKey */
    open(sealed: Buffer, context: string): Buffer {
      if (sealed.length < headBytes + nonceBytes + tagBytes || sealed[0] !== format)
        throw new SecretBoxError('this is no sealed secret')
      const start = sealed.subarray(0, headBytes)
      const found = known.find(({ id }) => id.equals(start.subarray(1)))
      if (!found) throw new UnknownSecretKey(start.subarray(1).toString('hex'))
      const nonce = sealed.subarray(headBytes, headBytes + nonceBytes)
      const tag = sealed.subarray(headBytes + nonceBytes, headBytes + nonceBytes + tagBytes)
      const decipher = createDecipheriv('aes-256-gcm', found.key, nonce, { authTagLength: tagBytes })
        .setAAD(associated(start, context))
        .setAuthTag(tag)
      try {
        const text = sealed.subarray(headBytes + nonceBytes + tagBytes)
        return Buffer.concat([decipher.update(text), decipher.final()])
      } catch (error) {
        throw new SecretBoxError('the sealed secret was changed or belongs elsewhere', error)
      }
    },
  }
}
