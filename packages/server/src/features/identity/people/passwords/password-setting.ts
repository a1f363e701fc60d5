import { faultOfNewPassword, type PasswordHasher } from '../../../../platform/crypto/passwords.ts'
import { invalid } from '../../../../platform/invalid.ts'

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
  hasher: PasswordHasher,
  password: string,
  present: string | null,
  path: string,
): Promise<string> {
  if (present !== null && (await hasher.matches(password, present)))
    throw invalid(path, 'must differ from the present password')
  return hasher.hash(password)
}
