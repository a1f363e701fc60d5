import { createUserLifecycle } from '../people/users/user-lifecycle.ts'
import type { IdentityContext } from '../sessions/identity-context.ts'
import { createResponseThrottle, createStartThrottle } from './assertion/response-throttle.ts'
import { createCertificateService } from './certificates/certificate-service.ts'
import { createConfigNotice } from './config/config-notice.ts'
import { type ConfigServiceDependencies, createConfigService } from './config/config-service.ts'
import { createDomainService, type ResolveTxt } from './domains/domain-service.ts'
import { createMetadataWatch } from './metadata/metadata-watch.ts'
import {
  createSamlSignInService,
  type SamlSignInServiceDependencies,
} from './sign-in/saml-sign-in-service.ts'

/** What single sign-on needs of signing in, of mails and of the network. */
export type SingleSignOnPorts = Pick<
  SamlSignInServiceDependencies,
  'readAuthorizationRequest' | 'finishSignIn' | 'keepSignIn' | 'findClient'
> &
  Pick<ConfigServiceDependencies, 'fetchDocument' | 'mailPasswordReset'>

export interface SingleSignOnDependencies extends IdentityContext, SingleSignOnPorts {
  readonly onOutcome: SamlSignInServiceDependencies['onOutcome']
  readonly resolveTxt: ResolveTxt
}

/** Single sign-on as a whole: its configuration and the sign-ins through it. */
export function createSingleSignOn(dependencies: SingleSignOnDependencies) {
  const { clock } = dependencies
  const lifecycle = createUserLifecycle(dependencies)
  const certificates = createCertificateService(dependencies)
  const notifyAdministrators = createConfigNotice(dependencies)
  const parts = { ...dependencies, lifecycle, certificates, notifyAdministrators }
  return {
    certificates,
    configs: createConfigService(parts),
    domains: createDomainService(parts),
    readMetadata: createMetadataWatch(dependencies).work,
    service: createSamlSignInService(parts),
    requireStartTurn: createStartThrottle(clock),
    requireTurn: createResponseThrottle(clock),
    requireFinishTurn: createResponseThrottle(clock),
  }
}
