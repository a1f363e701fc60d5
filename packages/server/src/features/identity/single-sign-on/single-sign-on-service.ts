import type { RecordAudit } from '../../../platform/audit.ts'
import { type Clock, systemClock } from '../../../platform/clock.ts'
import type { SecretBox } from '../../../platform/crypto/secret-box.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { EnqueueMail } from '../../../platform/mail/mail-queue.ts'
import type { Relational } from '../../../platform/stores/relational.ts'
import { createResponseThrottle, createStartThrottle } from './assertion/response-throttle.ts'
import { createCertificateService } from './certificates/certificate-service.ts'
import { createConfigNotice } from './config/config-notice.ts'
import { type ConfigServiceDependencies, createConfigService } from './config/config-service.ts'
import type { GrantRules } from './config/jit-defaults.ts'
import { createDomainService, type ResolveTxt, resolveTxtRecords } from './domains/domain-service.ts'
import { createMetadataWatch } from './metadata/metadata-watch.ts'
import {
  createSamlSignInService,
  type SamlSignInServiceDependencies,
} from './sign-in/saml-sign-in-service.ts'
import { createSamlSignInStore } from './sign-in/saml-sign-in-store.ts'

/** What single sign-on needs of signing in, of mails and of the network. */
export type SingleSignOnPorts = Pick<
  SamlSignInServiceDependencies,
  'readAuthorizationRequest' | 'finishSignIn' | 'findClient' | 'keepSignIn'
> &
  Pick<
    ConfigServiceDependencies,
    'fetchDocument' | 'mailPasswordReset' | 'requireNobodyAbove' | keyof GrantRules
  >

export interface SingleSignOnDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly box: SecretBox
  readonly lifecycle: SamlSignInServiceDependencies['lifecycle']
  readonly recordAudit: RecordAudit
  readonly enqueueMail: EnqueueMail
  /** Public address of the service, without a path. */
  readonly origin: () => string
  readonly ports: SingleSignOnPorts
  readonly onOutcome: SamlSignInServiceDependencies['onOutcome']
  readonly log: Pick<Logger, 'warn'>
  readonly clock?: Clock
  /** Tests hand in stores whose present they move. */
  readonly signIns?: SamlSignInServiceDependencies['signIns']
  readonly resolveTxt?: ResolveTxt
}

export type SingleSignOn = ReturnType<typeof createSingleSignOn>

/** Single sign-on as a whole: its configuration and the sign-ins through it. */
export function createSingleSignOn(dependencies: SingleSignOnDependencies) {
  const { relational, box, lifecycle, recordAudit, origin, ports, onOutcome } = dependencies
  const {
    clock = systemClock,
    signIns = createSamlSignInStore,
    resolveTxt = resolveTxtRecords,
  } = dependencies
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
      origin,
      ...ports,
    }),
    domains: createDomainService({ relational, recordAudit, notifyAdministrators, resolveTxt, origin }),
    readMetadata: createMetadataWatch({ ...dependencies, fetchDocument: ports.fetchDocument, clock }).work,
    service: createSamlSignInService({
      relational,
      signIns: (queries) => signIns(queries),
      lifecycle,
      certificates,
      recordAudit,
      clock,
      origin,
      onOutcome,
      ...ports,
    }),
    requireStartTurn: createStartThrottle(clock),
    requireTurn: createResponseThrottle(clock),
    requireFinishTurn: createResponseThrottle(clock),
  }
}
