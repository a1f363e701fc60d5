import { GateFull } from './crypto/gate.ts'
import { DomainError } from './errors.ts'
import type { PasswordDesk, Passwords } from './passwords.ts'

const unavailable = (cause: unknown): DomainError =>
  new DomainError('unavailable', { retryAfter: 1 }, { cause, retryAfterSeconds: 1 })

/**
 * Runs the work at the hasher's desk.
 * @param refusal what is thrown when too many wait there already
 * @throws DomainError `unavailable`, or what `refusal` makes
 */
export async function atDesk<T>(
  passwords: Pick<Passwords, 'atDesk'>,
  work: (desk: PasswordDesk) => Promise<T>,
  refusal: (cause: unknown) => DomainError = unavailable,
): Promise<T> {
  try {
    return await passwords.atDesk(work)
  } catch (cause) {
    throw cause instanceof GateFull ? refusal(cause) : cause
  }
}
