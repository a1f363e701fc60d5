import { readSender } from '../features/events/collector/senders/senders.ts'
import { createAccountServices } from '../features/identity/people/account-services.ts'
import { createCompanyClosing } from '../features/identity/people/company/company-closing.ts'
import { createProvisioning } from '../features/identity/provisioning/provisioning.ts'
import { createBearerGuard } from '../features/identity/sessions/access/bearer-guard.ts'
import { createRefusalAudit } from '../features/identity/sessions/access/refusal-audit.ts'
import { createApplicationService } from '../features/identity/sessions/applications/application-service.ts'
import { redirectAddresses } from '../features/identity/sessions/clients/redirect-uri.ts'
import { createFamiliarStore } from '../features/identity/sessions/familiar-store.ts'
import { createOwnSessionService } from '../features/identity/sessions/own-sessions/own-session-service.ts'
import { createTokenStore, type TokenStore } from '../features/identity/sessions/tokens/token-store.ts'
import { createAuthorizationReader } from '../features/identity/sign-in/authorization-request.ts'
import { createPasswordCheck } from '../features/identity/sign-in/passwords/password-check.ts'
import { defaultPolicy } from '../features/identity/sign-in/passwords/sign-in-throttle.ts'
import { createAuthenticatorService } from '../features/identity/sign-in/second-factor/authenticator-service.ts'
import { createSecondFactor } from '../features/identity/sign-in/second-factor/second-factor.ts'
import { createSignInService } from '../features/identity/sign-in/sign-in-service.ts'
import { createTokenService } from '../features/identity/sign-in/tokens/token-service.ts'
import { resolveTxtRecords } from '../features/identity/single-sign-on/domains/domain-service.ts'
import { createDomainStore } from '../features/identity/single-sign-on/domains/domain-store.ts'
import { createSingleSignOn } from '../features/identity/single-sign-on/single-sign-on-service.ts'
import { createReportSettingsStore } from '../features/reports/automatic/report-settings-store.ts'
import { createSavedQueryStore } from '../features/saved-queries/saved-query-store.ts'
import { createSqlLeakyBuckets } from '../platform/limits/sql-leaky-bucket.ts'
import type { Shared } from './shared.ts'

/** Metadata of an identity provider is some kilobytes; federations of thousands are not for one company. */
const metadataLimits = { limitBytes: 1024 * 1024, timeoutMs: 20_000 }

export function wireIdentity(shared: Shared) {
  const { publicUrl, outgoing, metrics, overrides } = shared
  const { db } = shared.relational
  const stored = createTokenStore(db)
  const tokens: TokenStore = {
    ...stored,
    async findClient(id) {
      const client = await stored.findClient(id)
      return client && { ...client, redirectUris: redirectAddresses(client.redirectUris, publicUrl()) }
    },
  }
  const readAuthorization = createAuthorizationReader(tokens)
  const familiar = createFamiliarStore(db)
  const passwordCheck = createPasswordCheck({
    ...shared,
    tokens,
    familiar,
    throttle: createSqlLeakyBuckets(db),
    secondFactor: createSecondFactor(shared),
    policy: overrides.throttlePolicy ?? defaultPolicy,
  })
  const authenticators = createAuthenticatorService({ ...shared, passwordCheck })
  const provisioning = createProvisioning(shared)
  const accounts = createAccountServices({
    ...shared,
    settingsNaming: provisioning.settingsNaming,
    async onTimezoneChanged(tx, companyId) {
      await createSavedQueryStore(tx).replan(companyId)
      await createReportSettingsStore(tx).replan(companyId)
    },
  })
  const signIn = createSignInService({
    ...shared,
    tokens,
    familiar,
    passwordCheck,
    findSingleSignOn: createDomainStore(db).findSingleSignOn,
  })
  return {
    tokens: createTokenService({ ...shared, tokens, passwordCheck }),
    guard: createBearerGuard({ ...shared, recordRefusal: createRefusalAudit(shared) }),
    signIn,
    readAuthorization,
    applications: createApplicationService(shared),
    ownSessions: createOwnSessionService({ ...shared, readUserAgent: readSender }),
    authenticators,
    companyClosing: createCompanyClosing({ ...shared, requireCode: authenticators.requireCode }),
    accounts,
    provisioning,
    singleSignOn: createSingleSignOn({
      ...shared,
      readAuthorizationRequest: async (query, acceptLanguage) =>
        (await readAuthorization(new Map(Object.entries(query)), acceptLanguage)).request,
      finishSignIn: signIn.finishSingleSignOn,
      keepSignIn: signIn.keepSingleSignOn,
      findClient: tokens.findClient,
      fetchDocument: (url) => outgoing.fetchDocument(url, metadataLimits),
      mailPasswordReset: accounts.passwordLinks.mailResetTo,
      onOutcome: (outcome) => metrics.singleSignOns.inc({ outcome }),
      resolveTxt: overrides.resolveTxt ?? resolveTxtRecords,
    }),
  }
}
