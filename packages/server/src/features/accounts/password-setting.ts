import { GateFull } from '../../platform/crypto/gate.ts'
import { DomainError } from '../../platform/errors.ts'
import { faultOfNewPassword, type PasswordDesk, type Passwords } from '../../platform/passwords.ts'

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation', { errors: [{ path, message }] }, { message: `${path} ${message}` })
}

/**
 * What is asked of a new password before it costs anything.
 * @throws DomainError `validation` at `path`, saying what would be right
 */
export function requireGoodPassword(password: string, path: string): void {
  const fault = faultOfNewPassword(password)
  if (fault !== undefined) throw invalid(path, fault)
}

/**
 * The hash of a new password that differs from the present one.
 * @throws DomainError `validation` at `path` for the same password
 */
export async function hashOther(
  desk: PasswordDesk,
  password: string,
  present: string | null,
  path: string,
): Promise<string> {
  if (present !== null && (await desk.matches(password, present)))
    throw invalid(path, 'must differ from the present password')
  return desk.hash(password)
}

/** Runs the work at the hasher's desk. @throws DomainError `unavailable` when too many wait there already */
export async function atDesk<T>(
  passwords: Pick<Passwords, 'atDesk'>,
  work: (desk: PasswordDesk) => Promise<T>,
): Promise<T> {
  try {
    return await passwords.atDesk(work)
  } catch (cause) {
    if (!(cause instanceof GateFull)) throw cause
    throw new DomainError('unavailable', { retryAfter: 1 }, { cause, retryAfterSeconds: 1 })
  }
}
