import type { PasswordDesk, Passwords } from '../../../../platform/crypto/passwords.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { type Holders, SemaphoreFull } from '../../../../platform/limits/semaphore.ts'

const unavailable = (cause: unknown): DomainError =>
  new DomainError('unavailable', { retryAfter: 1 }, { cause, retryAfterSeconds: 1 })

export interface DeskVisit {
  /** Whom it counts for, from the widest to the narrowest: none can keep the others from a place. */
  readonly holders: Holders
  /** What is thrown when too many wait there already. */
  readonly refusal?: (cause: unknown) => DomainError
}

/**
 * Runs the work at the hasher's desk.
 * @throws DomainError `unavailable`, or what `refusal` makes
 */
export async function atDesk<T>(
  passwords: Pick<Passwords, 'atDesk'>,
  { holders, refusal = unavailable }: DeskVisit,
  work: (desk: PasswordDesk) => Promise<T>,
): Promise<T> {
  try {
    return await passwords.atDesk(work, holders)
  } catch (cause) {
    throw cause instanceof SemaphoreFull ? refusal(cause) : cause
  }
}
