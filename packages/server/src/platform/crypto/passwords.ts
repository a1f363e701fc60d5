import { randomBytes } from 'node:crypto'
import { createSemaphore, type Holders, type Semaphore } from '../limits/semaphore.ts'
import {
  type Argon2Cost,
  type DeriveArgon2id,
  deriveArgon2id,
  encodeArgon2id,
  hasOtherCost,
  matchesArgon2id,
  saltBytes,
  unmatchableArgon2id,
} from './argon2id.ts'
import { isCommonPassword } from './common-passwords.ts'
import type { RandomBytes } from './secrets.ts'

/** The least that OWASP's password storage sheet recommends for argon2id; about 30 ms on a core. */
export const defaultCost: Argon2Cost = Object.freeze({ memory: 19_456, passes: 2, lanes: 1 })

/** Longer passwords are refused before they cost anything. */
export const maximumPasswordBytes = 4096

/** In characters: length is what makes a password hard to guess, and there is no other rule of composition. */
export const minimumPasswordLength = 12

/** What may be done while a place of the hasher is held. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  /**
   * Whether the password gives the stored hash. Without one it works as long as with one, on a hash that
   * nothing matches, and answers false: how long an answer takes does not tell whether there is a user.
   */
  matches(password: string, stored: string | null): Promise<boolean>
}

/** Hashes passwords with argon2id, a few at a time. */
export interface Passwords {
  /**
   * Runs the work with a permit, which is held until the work ends, also while it awaits something else than a hash.
   * @param holders whom it counts for: none of them can keep the others from a permit
   * @throws SemaphoreFull when too many wait already
   */
  withHasher<T>(work: (hasher: PasswordHasher) => Promise<T>, holders?: Holders): Promise<T>
  /** Whether a stored hash was made at another cost and should be replaced at the next sign-in. */
  isOutdated(stored: string): boolean
  load: Semaphore['load']
}

export interface PasswordOptions {
  readonly cost?: Argon2Cost
  /** Hashes at once: each takes 19 MiB and a core. */
  readonly places?: number
  readonly waitingPlaces?: number
  readonly random?: RandomBytes
  /** Where hashes are computed. */
  readonly derive?: DeriveArgon2id
}

/** The bytes that are hashed: normalised once, the same when set and when verified, and otherwise as received. */
function bytesOf(password: string): Buffer {
  if (isPasswordTooLong(password)) throw new RangeError('a password over the limit must not reach the hasher')
  return Buffer.from(password.normalize('NFC'), 'utf8')
}

export function createPasswords(options: PasswordOptions = {}): Passwords {
  const { cost = defaultCost, places = 4, waitingPlaces = 32 } = options
  const { random = randomBytes, derive = deriveArgon2id } = options
  const hashing = createSemaphore(places, waitingPlaces)
  const decoy = unmatchableArgon2id(random, cost)

  const hasher: PasswordHasher = {
    hash: (password) => encodeArgon2id(derive, bytesOf(password), random(saltBytes), cost),
    matches: (password, stored) => matchesArgon2id(derive, bytesOf(password), stored ?? decoy),
  }

  return {
    withHasher: (work, holders) => hashing.run(() => work(hasher), holders),
    isOutdated: (stored) => hasOtherCost(stored, cost),
    load: hashing.load,
  }
}

export function isPasswordTooLong(password: string): boolean {
  return Buffer.byteLength(password, 'utf8') > maximumPasswordBytes
}

/** Why a password may not be set, with its message. */
export const passwordFaults = {
  tooLong: `must have at most ${maximumPasswordBytes} bytes`,
  tooShort: `must have at least ${minimumPasswordLength} characters`,
  malformed: 'must be well-formed Unicode without the character U+0000',
  common: 'is one of the most common passwords; choose another',
} as const

export type PasswordFault = keyof typeof passwordFaults

/**
 * What is wrong with a password that a user wants to set; undefined when it is good. Length and known lists
 * only, no rules of composition (OWASP ASVS 6.2).
 */
export function validateNewPassword(password: string): PasswordFault | undefined {
  if (isPasswordTooLong(password)) return 'tooLong'
  const normalized = password.normalize('NFC')
  if ([...normalized].length < minimumPasswordLength) return 'tooShort'
  if (!password.isWellFormed() || password.includes('\0')) return 'malformed'
  return isCommonPassword(normalized) ? 'common' : undefined
}

/** Its message. */
export function faultOfNewPassword(password: string): string | undefined {
  const fault = validateNewPassword(password)
  return fault && passwordFaults[fault]
}

/** A password for a user to type once: 20 characters of an alphabet without look-alikes, over 100 bits. */
export function generatePassword(random: RandomBytes = randomBytes): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
  const letters = Array.from(random(20), (byte) => alphabet[byte % alphabet.length])
  return [0, 5, 10, 15].map((from) => letters.slice(from, from + 5).join('')).join('-')
}
