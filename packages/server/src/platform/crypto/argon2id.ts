import { type Argon2Parameters, argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { RandomBytes } from './secrets.ts'

/** Computes the tag of a hash. */
export type DeriveArgon2id = (
  parameters: Omit<Argon2Parameters, 'message' | 'nonce'> & {
    readonly message: Buffer
    readonly nonce: Buffer
  },
) => Promise<Buffer>

const deriveOnPool = promisify(argon2)

/** On libuv's threads. */
export const deriveArgon2id: DeriveArgon2id = (parameters) => deriveOnPool('argon2id', parameters)

/** What one hash costs: memory in KiB, passes over it, lanes. */
export interface Argon2Cost {
  readonly memory: number
  readonly passes: number
  readonly lanes: number
}

export const saltBytes = 16
const tagBytes = 32

interface Encoded extends Argon2Cost {
  readonly salt: Buffer
  readonly tag: Buffer
}

const encodedPattern =
  /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

function decode(encoded: string): Encoded | undefined {
  const [, memory, passes, lanes, salt, tag] = encodedPattern.exec(encoded) ?? []
  if (salt === undefined || tag === undefined) return undefined
  return {
    memory: Number(memory),
    passes: Number(passes),
    lanes: Number(lanes),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

function tagOf(
  derive: DeriveArgon2id,
  message: Buffer,
  salt: Buffer,
  cost: Argon2Cost,
  tagLength: number,
): Promise<Buffer> {
  return derive({
    message,
    nonce: salt,
    memory: cost.memory,
    passes: cost.passes,
    parallelism: cost.lanes,
    tagLength,
  })
}

function encode(salt: Buffer, tag: Buffer, { memory, passes, lanes }: Argon2Cost): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(tag)}`
}

/** The PHC text of a hash: `$argon2id$v=19$m=..,t=..,p=..$salt$tag` (RFC 9106; the PHC string format). */
export async function encodeArgon2id(
  derive: DeriveArgon2id,
  message: Buffer,
  salt: Buffer,
  cost: Argon2Cost,
): Promise<string> {
  return encode(salt, await tagOf(derive, message, salt, cost, tagBytes), cost)
}

/** A text that is checked like a hash of this cost and that nothing matches: its tag is random. */
export function unmatchableArgon2id(random: RandomBytes, cost: Argon2Cost): string {
  return encode(random(saltBytes), random(tagBytes), cost)
}

/** Whether the message gives this hash, at the cost that the hash names; a text that is no hash is a fault of ours. */
export async function matchesArgon2id(
  derive: DeriveArgon2id,
  message: Buffer,
  encoded: string,
): Promise<boolean> {
  const stored = decode(encoded)
  if (!stored) throw new Error('a stored password hash is not argon2id in the PHC format')
  return timingSafeEqual(await tagOf(derive, message, stored.salt, stored, stored.tag.length), stored.tag)
}

/** Whether a hash was made at another cost than this one. */
export function hasOtherCost(encoded: string, cost: Argon2Cost): boolean {
  const stored = decode(encoded)
  return (
    stored === undefined ||
    stored.memory !== cost.memory ||
    stored.passes !== cost.passes ||
    stored.lanes !== cost.lanes ||
    stored.tag.length !== tagBytes
  )
}
