import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import type { SsoDomain } from '@millrace/contract/resources/sso-config.ts'
import { type AuditActor, actorOf, auditEventOf } from '../../../../platform/audit.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, normalizeId } from '../../../../platform/ids.ts'
import { invalid } from '../../../../platform/invalid.ts'
import { found, refusing } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller } from '../../sessions/principal.ts'
import type { NotifyAdministrators } from '../config/config-notice.ts'
import { createConfigStore } from '../config/config-store.ts'
import { parseCompanyDomain } from './domain-name.ts'
import { createDomainStore, type StoredDomain } from './domain-store.ts'

/** The texts of a name's TXT records, each in its parts; rejects when there is none or no server answers. */
export type ResolveTxt = (name: string) => Promise<string[][]>

export interface DomainServiceDependencies
  extends Pick<IdentityContext, 'relational' | 'recordAudit' | 'publicUrl' | 'random'> {
  readonly notifyAdministrators: NotifyAdministrators
  readonly resolveTxt: ResolveTxt
}

const maxDomains = 50

/** The system's name servers, with an end to waiting. */
export const resolveTxtRecords: ResolveTxt = (name) =>
  new Resolver({ timeout: 2_000, tries: 2 }).resolveTxt(name)

const recordName = (domain: string) => `_millrace-challenge.${domain}`
const recordValue = (challenge: string) => `millrace-domain-verification=${challenge}`

function requireDomain(text: string): string {
  const parsed = parseCompanyDomain(text)
  if ('domain' in parsed) return parsed.domain
  throw invalid('domain', parsed.fault)
}

export type DomainService = ReturnType<typeof createDomainService>

/** Which domains of e-mail addresses are a company's own. */
export function createDomainService(dependencies: DomainServiceDependencies) {
  const { relational, recordAudit, notifyAdministrators, resolveTxt, publicUrl } = dependencies
  const { random = randomBytes } = dependencies
  const store = createDomainStore(relational.db)

  function toResource(stored: StoredDomain): SsoDomain {
    return {
      id: stored.id,
      domain: stored.domain,
      status: stored.verifiedAt ? 'verified' : 'pending',
      recordName: recordName(stored.domain),
      recordValue: recordValue(stored.challenge),
      verifiedAt: stored.verifiedAt?.toISOString() ?? null,
      loginUrl: `${publicUrl()}/v2/sso/saml/login?domain=${encodeURIComponent(stored.domain)}`,
      createdAt: stored.createdAt.toISOString(),
    }
  }

  async function get(companyId: string, givenId: string): Promise<StoredDomain> {
    return found(await store.find(companyId, normalizeId(givenId)), 'domainNotFound', givenId)
  }

  const newDomain = (companyId: string, domain: string) => ({
    id: newId(),
    companyId,
    domain,
    challenge: random(24).toString('base64url'),
  })

  const target = ({ id, domain }: { id: string; domain: string }) => ({
    kind: 'sso-domain',
    id,
    name: domain,
  })

  /** A domain more or less is another configuration: it must be proven again. */
  async function changed(tx: Queries, companyId: string, author: AuditActor): Promise<void> {
    const held = createConfigStore(tx)
    const wasRequired = (await held.find(companyId))?.mandatory === true
    await held.unprove(companyId, newId())
    if (wasRequired) await notifyAdministrators(tx, companyId, author.name ?? 'Millrace', ['optional'])
  }

  async function verifyNow(tx: Queries, domain: StoredDomain, actor: AuditActor, address?: string) {
    const { companyId } = domain
    await createPeopleStore(tx).lockCompany(companyId)
    if (!(await createDomainStore(tx).markVerified(companyId, domain.id))) return
    await changed(tx, companyId, actor)
    const event = { companyId, action: 'sso-domain-verify', actor, target: target(domain), address } as const
    await recordAudit(tx, event)
  }

  /** @throws DomainError `domainTaken` when another company has verified the domain meanwhile */
  const whileFree = <T>(domain: string, work: (tx: Queries) => Promise<T>): Promise<T> =>
    refusing({ sso_domains_verified: ['domainTaken', { domain }] }, () => relational.transaction(work))

  /** Why the record does not show the domain; undefined when it does. */
  async function faultOfRecord({ domain, challenge }: StoredDomain): Promise<string | undefined> {
    try {
      const records = await resolveTxt(recordName(domain))
      if (records.some((parts) => parts.join('').trim() === recordValue(challenge))) return undefined
      return 'there are records of this name, and none holds the value'
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const isAbsent = code === 'ENOTFOUND' || code === 'ENODATA'
      return isAbsent ? 'there is no such record' : 'the name servers do not answer; try again later'
    }
  }

  return {
    async list(companyId: string): Promise<SsoDomain[]> {
      return (await store.list(companyId)).map(toResource)
    },

    /** @throws DomainError `validation`, `domainTaken` or `tooManyDomains` */
    async add(caller: Caller, text: string): Promise<SsoDomain> {
      const { companyId } = caller.principal
      const domain = newDomain(companyId, requireDomain(text))
      await relational.transaction(async (tx) => {
        await createPeopleStore(tx).lockCompany(companyId)
        const held = createDomainStore(tx)
        const taken = async () => (await held.findOwner(domain.domain)) !== undefined
        if ((await held.list(companyId)).length >= maxDomains)
          throw new DomainError('tooManyDomains', { most: maxDomains })
        if ((await taken()) || !(await held.insert(domain)))
          throw new DomainError('domainTaken', { domain: domain.domain })
        await recordAudit(tx, auditEventOf(caller, 'sso-domain-add', target(domain)))
      })
      return toResource(await get(companyId, domain.id))
    },

    /** @throws DomainError `domainNotFound`, `domainNotVerified` or `domainTaken` */
    async verify(caller: Caller, id: string): Promise<SsoDomain> {
      const { address } = caller
      const { companyId } = caller.principal
      const domain = await get(companyId, id)
      if (domain.verifiedAt) return toResource(domain)
      const reason = await faultOfRecord(domain)
      if (reason !== undefined) {
        const record = { recordName: recordName(domain.domain), recordValue: recordValue(domain.challenge) }
        throw new DomainError('domainNotVerified', { domain: domain.domain, ...record, reason })
      }
      await whileFree(domain.domain, (tx) => verifyNow(tx, domain, actorOf(caller.principal), address))
      return toResource(await get(companyId, domain.id))
    },

    /** @throws DomainError `domainNotFound` */
    async remove(caller: Caller, id: string): Promise<void> {
      const { companyId } = caller.principal
      await relational.transaction(async (tx) => {
        await createPeopleStore(tx).lockCompany(companyId)
        const held = createDomainStore(tx)
        const domain = found(await held.find(companyId, normalizeId(id)), 'domainNotFound', id)
        await held.delete(domain)
        if (domain.verifiedAt) await changed(tx, companyId, actorOf(caller.principal))
        await recordAudit(tx, auditEventOf(caller, 'sso-domain-remove', target(domain)))
      })
    },

    /**
     * Verified by the operator, who knows whose domain it is; adds the domain where the company has not.
     * @throws DomainError `validation` or `domainTaken`
     */
    async verifyByOperator(companyId: string, text: string): Promise<{ id: string; domain: string }> {
      const name = requireDomain(text)
      return whileFree(name, async (tx) => {
        await createPeopleStore(tx).lockCompany(companyId)
        const held = createDomainStore(tx)
        await held.insert(newDomain(companyId, name))
        const domain = await held.findByName(companyId, name)
        if (!domain) throw new DomainError('notFound')
        await verifyNow(tx, domain, { kind: 'operator' })
        return { id: domain.id, domain: name }
      })
    },

    /**
     * Which company's single sign-on an address of exactly this domain has; undefined when it has none. A failure
     * of the store is thrown, never taken for none.
     */
    findSingleSignOn: (domain: string): Promise<{ companyId: string; required: boolean } | undefined> =>
      store.findSingleSignOn(domain.toLowerCase()),
  }
}
