import { X509Certificate } from 'node:crypto'
import type {
  AttributeMapping,
  SsoConfig,
  SsoConfigReplacement,
  SsoConfigUpdate,
} from '@millrace/contract/resources/sso-config.ts'
import { auditEventOf } from '../../../../platform/audit.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { invalid } from '../../../../platform/invalid.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import { requireNoUserAbove } from '../../people/roles/grants.ts'
import { explainLastAdministrator, type UserLifecycle } from '../../people/users/user-lifecycle.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller } from '../../sessions/principal.ts'
import { serviceProviderOf } from '../assertion/service-provider.ts'
import { type CertificateService, fingerprintOf } from '../certificates/certificate-service.ts'
import { createDomainStore } from '../domains/domain-store.ts'
import {
  createMetadataReader,
  type GivenMetadata,
  type MetadataReaderDependencies,
} from '../metadata/given-metadata.ts'
import { readingOf } from '../metadata/metadata-schedule.ts'
import {
  type FindClient,
  isAnotherDestination,
  namesDestination,
  validateDestination,
} from '../sign-in/idp-initiated-destination.ts'
import { consequencesOf, noticesOf, type Wanted } from './config-consequences.ts'
import type { NotifyAdministrators } from './config-notice.ts'
import { createConfigStore, type StoredConfig } from './config-store.ts'
import { validateJitDefaults } from './jit-defaults.ts'

export interface ConfigServiceDependencies extends MetadataReaderDependencies, IdentityContext {
  readonly lifecycle: Pick<UserLifecycle, 'transact'>
  readonly certificates: CertificateService
  readonly notifyAdministrators: NotifyAdministrators
  readonly findClient: FindClient
  /** Inside a transaction: mails a user a link to set a password. */
  readonly mailPasswordReset: (tx: Queries, userId: string) => Promise<void>
}

const explainRequiring = explainLastAdministrator(
  'No administrator would be able to sign in: first sign in as one through the identity provider, or give an administrator an address outside its domains',
)

export type ConfigService = ReturnType<typeof createConfigService>

/** The configuration of single sign-on of a company: reading, saving, deleting. */
export function createConfigService(dependencies: ConfigServiceDependencies) {
  const { relational, lifecycle, certificates, recordAudit, clock, publicUrl } = dependencies
  const { notifyAdministrators, findClient } = dependencies
  const readMetadata = createMetadataReader(dependencies)
  const store = createConfigStore(relational.db)

  function toResource(stored: StoredConfig): SsoConfig {
    const { entityId, acsUrl } = serviceProviderOf(publicUrl(), stored.companyId)
    return {
      idpMetadataXml: stored.metadataUrl === null ? stored.metadataXml : null,
      idpMetadataUrl: stored.metadataUrl,
      idpEntityId: stored.idpEntityId,
      idpSignInUrl: stored.idpSignInUrl,
      idpCertificates: stored.idpCertificates.map((certificate) => ({
        fingerprint: fingerprintOf(certificate),
        expiresAt: new X509Certificate(certificate).validToDate.toISOString(),
      })),
      attributeMapping: stored.attributeMapping as AttributeMapping,
      provisioning: stored.provisioning,
      defaultRoleId: stored.defaultRoleId,
      defaultTeamIds: [...stored.defaultTeamIds],
      mandatory: stored.mandatory,
      allowIdpInitiated: stored.allowIdpInitiated,
      idpInitiatedClientId: stored.idpInitiatedClientId,
      idpInitiatedUrl: stored.idpInitiatedUrl,
      metadataReadAt: stored.metadataReadAt?.toISOString() ?? null,
      metadataError: stored.metadataError,
      provenAt: stored.provenAt?.toISOString() ?? null,
      entityId,
      acsUrl,
      metadataUrl: entityId,
      createdAt: stored.createdAt.toISOString(),
      updatedAt: stored.updatedAt.toISOString(),
    }
  }

  async function get(companyId: string): Promise<StoredConfig> {
    const found = await store.find(companyId)
    if (!found) throw new DomainError('singleSignOnNotFound')
    return found
  }

  async function turnOn(tx: Queries, companyId: string): Promise<number> {
    const held = createConfigStore(tx)
    const config = await held.find(companyId)
    if (!config?.provenAt || !(await createDomainStore(tx).hasVerified(companyId)))
      throw new DomainError('singleSignOnNotProven')
    await held.setMandatory(companyId, true)
    return held.endSessions(companyId, 'password', 'domains')
  }

  /** Inside the transaction that holds the company. @returns whether password sessions have ended */
  async function apply(
    tx: Queries,
    caller: Caller,
    wanted: Wanted,
    metadata: GivenMetadata | undefined,
    isWhole: boolean,
  ): Promise<boolean> {
    const { principal } = caller
    const { companyId } = principal
    const held = createConfigStore(tx)
    const before = await held.find(companyId)
    if (!before && !isWhole) throw new DomainError('singleSignOnNotFound')
    if (!metadata && (isWhole || !before)) throw invalid('idpMetadataXml', 'or idpMetadataUrl is required')
    const now = consequencesOf(before, wanted, metadata, isWhole, clock.now())
    const isNewlyRequired = now.isRequired && !now.wasRequired
    if (metadata || wanted.attributeMapping || isNewlyRequired || namesDestination(wanted))
      await requireNoUserAbove(tx, principal)
    const given = { wanted, isWhole, before }
    const { defaultTeamIds, ...settings } = await validateJitDefaults(tx, principal, given)
    const destination = await validateDestination(findClient, given)
    const provider = metadata && {
      metadataXml: metadata.xml,
      metadataUrl: metadata.url,
      idpEntityId: metadata.provider.entityId,
      idpSignInUrl: metadata.provider.signInUrl,
      idpCertificates: [...metadata.provider.certificates],
    }
    const attributeMapping = wanted.attributeMapping ?? before?.attributeMapping
    const whole = { ...before, ...provider, ...settings, attributeMapping }
    const { metadataXml, metadataUrl = null, idpEntityId, idpSignInUrl, idpCertificates } = whole
    if (!metadataXml || !idpEntityId || !idpSignInUrl || !idpCertificates || !attributeMapping)
      throw invalid('idpMetadataXml', 'or idpMetadataUrl is required')
    const version = newId()
    const idp = { metadataXml, metadataUrl, idpEntityId, idpSignInUrl, idpCertificates }
    await held.save(
      { companyId, version, ...idp, attributeMapping, ...settings, ...destination },
      defaultTeamIds,
    )
    if (metadata) await held.saveReading(companyId, readingOf(metadata.url, clock.now()))
    if (now.isUnproven) await held.unprove(companyId, version)
    // Sessions that a former provider or key gave end with it. The user who takes a key away can put it back.
    const kept = now.isAnotherProvider ? undefined : principal.tokenId
    const endedOfProvider =
      now.isAnotherProvider || now.isTrustWithdrawn
        ? await held.endSessions(companyId, 'sso', 'all', kept)
        : 0
    const endedByPassword = isNewlyRequired ? await turnOn(tx, companyId) : 0
    if (now.isRequired) await createPeopleStore(tx).requireAdministrator(companyId)
    else await held.setMandatory(companyId, false)
    await recordAudit(tx, {
      ...auditEventOf(caller, 'sso-config-update', { kind: 'sso-config', id: companyId, name: idpEntityId }),
      details: {
        created: before === undefined,
        identityProviderChanged: before === undefined || now.isAnotherProvider,
        mappingChanged: before === undefined || now.isAnotherMapping,
        certificatesAdded: now.addedCertificates.map(fingerprintOf),
        certificatesRemoved: now.removedCertificates.map(fingerprintOf),
        ...destination,
        mandatory: now.isRequired,
        endedSessions: endedOfProvider + endedByPassword,
        ...settings,
        defaultTeamIds,
      },
    })
    const notices = noticesOf(before, now)
    if (isAnotherDestination(before, destination)) notices.push('idpInitiated')
    await notifyAdministrators(tx, companyId, principal.email, notices)
    return isNewlyRequired
  }

  async function save(caller: Caller, wanted: Wanted, isWhole: boolean): Promise<SsoConfig> {
    const { companyId } = caller.principal
    const metadata = await readMetadata(wanted)
    const prepared = (await certificates.hasValid(companyId))
      ? undefined
      : await certificates.prepare(companyId)
    const isNewlyRequired = await lifecycle
      .transact(async (tx) => {
        await createPeopleStore(tx).lockCompany(companyId)
        const hasEnded = await apply(tx, caller, wanted, metadata, isWhole)
        if (prepared) await certificates.insertFirst(tx, prepared)
        return hasEnded
      })
      .catch(explainRequiring)
    // Sign-ins by password that were under way meanwhile have a session by now: those end, too.
    if (isNewlyRequired)
      await relational.transaction((tx) =>
        createConfigStore(tx).endSessions(companyId, 'password', 'domains'),
      )
    return toResource(await get(companyId))
  }

  return {
    /** @throws DomainError `singleSignOnNotFound` */
    async read(companyId: string): Promise<SsoConfig> {
      return toResource(await get(companyId))
    },

    /** @throws DomainError as the operation names them */
    replace: (caller: Caller, wanted: SsoConfigReplacement): Promise<SsoConfig> => save(caller, wanted, true),

    /** @throws DomainError as the operation names them */
    update: (caller: Caller, wanted: SsoConfigUpdate): Promise<SsoConfig> => save(caller, wanted, false),

    /**
     * Deletes everything of the company's single sign-on at once. Passwords work again from that moment; users without
     * one get a mail, and sessions through the identity provider end.
     * @throws DomainError `singleSignOnNotFound`
     */
    async delete(caller: Caller): Promise<void> {
      const { companyId, email } = caller.principal
      await relational.transaction(async (tx) => {
        const held = createConfigStore(tx)
        await createPeopleStore(tx).lockCompany(companyId)
        const before = await held.find(companyId)
        if (!before || !(await held.delete(companyId))) throw new DomainError('singleSignOnNotFound')
        const endedSessions = await held.endSessions(companyId, 'sso', 'all')
        const withoutPassword = await held.listWithoutPassword(companyId)
        for (const userId of withoutPassword) await dependencies.mailPasswordReset(tx, userId)
        const target = { kind: 'sso-config', id: companyId, name: before.idpEntityId }
        await recordAudit(tx, {
          ...auditEventOf(caller, 'sso-config-delete', target),
          details: { wasMandatory: before.mandatory, endedSessions, resetMails: withoutPassword.length },
        })
        await notifyAdministrators(tx, companyId, email, ['deleted'])
      })
    },
  }
}
