import { hash, randomBytes } from 'node:crypto'

/** Gives that many random bytes; tests may hand in their own. */
export type RandomBytes = (size: number) => Buffer

/**
 * A new secret for a token: 256 random bits as 43 characters of base64url. Only its hash is ever stored
 * (docs/interface.md, Token service).
 */
export function newSecret(random: RandomBytes = randomBytes): string {
  return random(32).toString('base64url')
}

const secretPattern = /^[A-Za-z0-9_-]{43}$/

/** Whether a text has the form of a secret, so that other texts are refused without asking a store. */
export function isSecret(text: string): boolean {
  return secretPattern.test(text)
}

/**
 * SHA-256 of a secret, 32 bytes. A plain hash is enough for 256 random bits, and looking a secret up by its
 * hash takes the same time whatever part of it a guess had right.
 */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
