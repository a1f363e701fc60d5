import type { PasswordHasher, Passwords } from '../../../../platform/crypto/passwords.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { type Holders, SemaphoreFull } from '../../../../platform/limits/semaphore.ts'

const unavailable = (cause: unknown): DomainError =>
  new DomainError('unavailable', { retryAfter: 1 }, { cause, retryAfterSeconds: 1 })

export interface HasherOptions {
  /** Whom it counts for, from the widest to the narrowest: none can keep the others from a place. */
  readonly holders: Holders
  /** What is thrown when too many wait there already. */
  readonly refusal?: (cause: unknown) => DomainError
}

/**
 * Runs the work with a place at the password hasher.
 * @throws DomainError `unavailable`, or what `refusal` makes
 */
export async function withHasher<T>(
  passwords: Pick<Passwords, 'withHasher'>,
  { holders, refusal = unavailable }: HasherOptions,
  work: (hasher: PasswordHasher) => Promise<T>,
): Promise<T> {
  try {
    return await passwords.withHasher(work, holders)
  } catch (cause) {
    throw cause instanceof SemaphoreFull ? refusal(cause) : cause
  }
}
