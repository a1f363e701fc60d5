import type { RandomBytes } from '../../../platform/crypto/secrets.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'

/** What services of identity share; each names the parts that it uses. */
export interface IdentityContext extends Omit<ServiceContext, 'lockCompany'> {
  readonly random?: RandomBytes | undefined
}
