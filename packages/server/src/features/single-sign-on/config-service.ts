import { X509Certificate } from 'node:crypto'
import type {
  AttributeMapping,
  SsoConfig,
  SsoConfigReplacement,
  SsoConfigUpdate,
} from '@millrace/contract/resources/sso-config.ts'
import { type AuditEvent, actorOf, type RecordAudit } from '../../platform/audit.ts'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { createRefusalAudit } from '../../platform/refusal-audit.ts'
import type { Queries, Relational } from '../../platform/stores/relational.ts'
import { type Caller, type CertificateService, fingerprintOf } from './certificate-service.ts'
import { type ConfigStore, createConfigStore, type StoredConfig } from './config-store.ts'
import { createDomainStore } from './domain-store.ts'
import {
  type IdentityProvider,
  readIdentityProvider,
  UnusableMetadata,
} from './identity-provider-metadata.ts'
import { serviceProviderOf } from './service-provider.ts'

export interface ConfigServiceDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly certificates: CertificateService
  readonly recordAudit: RecordAudit
  readonly clock: Clock
  readonly origin: () => string
  /** Fetches a document from a public address; rejects with a message for the person who named it. */
  readonly fetchDocument: (url: string) => Promise<string>
  /** Inside a transaction: mails somebody a link to set a password. */
  readonly mailPasswordReset: (tx: Queries, userId: string) => Promise<void>
  /** @throws DomainError `roleAboveOwn` when people of the company may do more than the caller */
  readonly requireNobodyAbove: (
    queries: Queries,
    caller: Pick<Caller, 'companyId' | 'permissions'>,
  ) => Promise<void>
}

type Wanted = SsoConfigReplacement | SsoConfigUpdate

/** Metadata as it was given, with what it says. */
interface GivenMetadata {
  readonly xml: string
  readonly url: string | null
  readonly provider: IdentityProvider
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation', { errors: [{ path, message }] }, { message: `${path} ${message}` })
}

function unusable(reason: string, cause?: unknown): DomainError {
  const message = `The metadata of the identity provider cannot be used: ${reason}`
  return new DomainError('unusableMetadata', { reason }, { message, cause })
}

const isSameProvider = (stored: StoredConfig, given: IdentityProvider): boolean =>
  stored.idpEntityId === given.entityId &&
  stored.idpSignInUrl === given.signInUrl &&
  stored.idpCertificates.toSorted().join() === given.certificates.toSorted().join()

export type ConfigService = ReturnType<typeof createConfigService>

/** The configuration of single sign-on of a company: reading, saving, deleting. */
export function createConfigService(dependencies: ConfigServiceDependencies) {
  const { relational, certificates, recordAudit, clock, origin } = dependencies
  const store = createConfigStore(relational.db)
  const auditRefusal = createRefusalAudit({ relational, recordAudit })

  const eventOf = (caller: Caller, action: AuditEvent['action'], name?: string): AuditEvent => ({
    companyId: caller.companyId,
    action,
    actor: actorOf(caller),
    target: { kind: 'sso-config', id: caller.companyId, name },
    address: caller.address,
  })

  function toResource(stored: StoredConfig): SsoConfig {
    const { entityId, acsUrl } = serviceProviderOf(origin(), stored.companyId)
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

  /** Undefined when none was given. @throws DomainError `validation` or `unusableMetadata` */
  async function readMetadata(wanted: Wanted): Promise<GivenMetadata | undefined> {
    const { idpMetadataXml: pasted, idpMetadataUrl: url } = wanted
    if (pasted && url)
      throw invalid('idpMetadataUrl', 'and idpMetadataXml exclude each other; send one of them')
    if (!pasted && !url) return undefined
    let xml = pasted ?? ''
    if (url) {
      if (URL.parse(url)?.protocol !== 'https:') throw unusable('its address must begin with https://')
      try {
        xml = await dependencies.fetchDocument(url)
      } catch (error) {
        throw unusable(`it cannot be fetched: ${(error as Error).message}`, error)
      }
    }
    try {
      return { xml, url: url ?? null, provider: readIdentityProvider(xml, clock.now()) }
    } catch (error) {
      if (!(error instanceof UnusableMetadata)) throw error
      throw unusable(error.message, error)
    }
  }

  /** @throws DomainError `unknownRole` or `roleAboveOwn`: nobody creates people who may do more than themselves */
  async function requireGrantable(held: ConfigStore, caller: Caller, roleId: string): Promise<void> {
    const permissions = await held.findRolePermissions(caller.companyId, roleId)
    if (!permissions) throw new DomainError('unknownRole', { roleIds: [roleId] })
    if (permissions.some((permission) => !caller.permissions.has(permission)))
      throw new DomainError('roleAboveOwn', { roleIds: [roleId] })
  }

  async function requireTeams(held: ConfigStore, companyId: string, wanted: readonly string[]) {
    const ids = [...new Set(wanted.map(normalizeId))]
    const known = new Set(await held.listTeams(companyId, ids))
    const unknown = ids.filter((id) => !known.has(id))
    if (unknown.length > 0) throw new DomainError('unknownTeam', { teamIds: unknown })
    return ids
  }

  /** What is saved: fields that are absent come from `base`. */
  async function merge(held: ConfigStore, caller: Caller, wanted: Wanted, base: Partial<StoredConfig>) {
    const { companyId } = caller
    const provisioning = wanted.provisioning ?? base.provisioning ?? 'invitation'
    const givenRole = wanted.defaultRoleId === undefined ? base.defaultRoleId : wanted.defaultRoleId
    const defaultRoleId = givenRole ? normalizeId(givenRole) : null
    const isGrant = wanted.defaultRoleId !== undefined || wanted.provisioning !== undefined
    const granted = defaultRoleId ?? (await held.findDefaultRole(companyId))
    if (provisioning === 'create' && granted === undefined)
      throw invalid('defaultRoleId', 'is required where people are created: the company has no default role')
    if (isGrant && granted !== undefined && (provisioning === 'create' || defaultRoleId !== null))
      await requireGrantable(held, caller, granted)
    const defaultTeamIds =
      wanted.defaultTeamIds === undefined
        ? (base.defaultTeamIds ?? [])
        : await requireTeams(held, companyId, wanted.defaultTeamIds)
    return { provisioning, defaultRoleId, defaultTeamIds } as const
  }

  async function turnOn(tx: Queries, companyId: string): Promise<number> {
    const held = createConfigStore(tx)
    const config = await held.find(companyId)
    if (!config?.provenAt || !(await createDomainStore(tx).hasVerified(companyId)))
      throw new DomainError('singleSignOnNotProven')
    await held.setMandatory(companyId, true)
    return held.endSessions(companyId, 'password', 'domains')
  }

  async function save(caller: Caller, wanted: Wanted, isWhole: boolean): Promise<SsoConfig> {
    const { companyId } = caller
    const metadata = await readMetadata(wanted)
    const prepared = (await certificates.hasValid(companyId))
      ? undefined
      : await certificates.prepare(companyId)
    const required = await relational.transaction(async (tx) => {
      const held = createConfigStore(tx)
      await held.lockCompany(companyId)
      const before = await held.find(companyId)
      if (!before && !isWhole) throw new DomainError('singleSignOnNotFound')
      if (!metadata && (isWhole || !before)) throw invalid('idpMetadataXml', 'or idpMetadataUrl is required')
      if (metadata || wanted.attributeMapping) await dependencies.requireNobodyAbove(tx, caller)
      const merged = await merge(held, caller, wanted, isWhole ? {} : (before ?? {}))
      const { defaultTeamIds, ...settings } = merged
      const given = metadata && {
        metadataXml: metadata.xml,
        metadataUrl: metadata.url,
        idpEntityId: metadata.provider.entityId,
        idpSignInUrl: metadata.provider.signInUrl,
        idpCertificates: [...metadata.provider.certificates],
      }
      const attributeMapping = wanted.attributeMapping ?? before?.attributeMapping
      const whole = { ...before, ...given, ...settings, attributeMapping }
      const { metadataXml, metadataUrl = null, idpEntityId, idpSignInUrl, idpCertificates } = whole
      if (!metadataXml || !idpEntityId || !idpSignInUrl || !idpCertificates || !attributeMapping)
        throw invalid('idpMetadataXml', 'or idpMetadataUrl is required')
      const version = newId()
      const idp = { metadataXml, metadataUrl, idpEntityId, idpSignInUrl, idpCertificates }
      await held.save({ companyId, version, ...idp, attributeMapping, ...settings }, defaultTeamIds)
      if (prepared) await certificates.insertFirst(tx, prepared)
      const isAnotherProvider = before && metadata && !isSameProvider(before, metadata.provider)
      if (isAnotherProvider) await held.unprove(companyId, version)
      const wasRequired = before?.mandatory === true && !isAnotherProvider
      const isRequired = wanted.mandatory ?? (isWhole ? false : wasRequired)
      const endedSessions = isRequired && !wasRequired ? await turnOn(tx, companyId) : 0
      if (!isRequired) await held.setMandatory(companyId, false)
      await recordAudit(tx, {
        ...eventOf(caller, 'sso-config-update', idpEntityId),
        details: {
          created: before === undefined,
          identityProviderChanged: before === undefined || isAnotherProvider === true,
          mandatory: isRequired,
          endedSessions,
          ...settings,
          defaultTeamIds,
        },
      })
      return isRequired && !wasRequired
    })
    // Whoever was signing in by password while this was decided has a session by now: that ends, too.
    if (required)
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
    replace: (caller: Caller, wanted: SsoConfigReplacement): Promise<SsoConfig> =>
      auditRefusal(eventOf(caller, 'sso-config-update'), () => save(caller, wanted, true)),

    /** @throws DomainError as the operation names them */
    update: (caller: Caller, wanted: SsoConfigUpdate): Promise<SsoConfig> =>
      auditRefusal(eventOf(caller, 'sso-config-update'), () => save(caller, wanted, false)),

    /**
     * Deletes everything of the company's single sign-on at once. Passwords work again from that moment; whoever
     * has none gets a mail, and sessions that the identity provider vouched for end, because nobody does any more.
     * @throws DomainError `singleSignOnNotFound`
     */
    async delete(caller: Caller): Promise<void> {
      const { companyId } = caller
      await relational.transaction(async (tx) => {
        const held = createConfigStore(tx)
        await held.lockCompany(companyId)
        const before = await held.find(companyId)
        if (!before || !(await held.delete(companyId))) throw new DomainError('singleSignOnNotFound')
        const endedSessions = await held.endSessions(companyId, 'sso', 'all')
        const withoutPassword = await held.listWithoutPassword(companyId)
        for (const userId of withoutPassword) await dependencies.mailPasswordReset(tx, userId)
        await recordAudit(tx, {
          ...eventOf(caller, 'sso-config-delete', before.idpEntityId),
          details: { wasMandatory: before.mandatory, endedSessions, resetMails: withoutPassword.length },
        })
      })
    },
  }
}
