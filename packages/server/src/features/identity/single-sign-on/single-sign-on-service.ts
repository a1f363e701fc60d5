import type { RecordAudit } from '../../../platform/audit.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { SecretBox } from '../../../platform/crypto/secret-box.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { EnqueueMail } from '../../../platform/mail/mail-queue.ts'
import type { Relational } from '../../../platform/stores/relational.ts'
import { createUserLifecycle } from '../people/users/user-lifecycle.ts'
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

export interface SingleSignOnDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly box: SecretBox
  readonly recordAudit: RecordAudit
  readonly enqueueMail: EnqueueMail
  /** Public address of the service, without a path. */
  readonly publicUrl: () => string
  readonly ports: SingleSignOnPorts
  readonly onOutcome: SamlSignInServiceDependencies['onOutcome']
  readonly log: Pick<Logger, 'warn'>
  readonly clock: Clock
  readonly resolveTxt: ResolveTxt
}

export type SingleSignOn = ReturnType<typeof createSingleSignOn>

/** Single sign-on as a whole: its configuration and the sign-ins through it. */
export function createSingleSignOn(dependencies: SingleSignOnDependencies) {
  const { relational, box, recordAudit, publicUrl, ports, onOutcome, clock, resolveTxt } = dependencies
  const lifecycle = createUserLifecycle(dependencies)
  const notifyAdministrators = createConfigNotice(dependencies)
  const certificates = createCertificateService({ relational, box, recordAudit, clock })
  return {
    certificates,
    configs: createConfigService({
      relational,
      lifecycle,
      certificates,
      recordAudit,
      notifyAdministrators,
      clock,
      publicUrl,
      ...ports,
    }),
    domains: createDomainService({ relational, recordAudit, notifyAdministrators, resolveTxt, publicUrl }),
    readMetadata: createMetadataWatch({ ...dependencies, fetchDocument: ports.fetchDocument, clock }).work,
    service: createSamlSignInService({
      relational,
      lifecycle,
      certificates,
      recordAudit,
      clock,
      publicUrl,
      onOutcome,
      ...ports,
    }),
    requireStartTurn: createStartThrottle(clock),
    requireTurn: createResponseThrottle(clock),
    requireFinishTurn: createResponseThrottle(clock),
  }
}
