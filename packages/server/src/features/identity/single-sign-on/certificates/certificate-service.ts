import { X509Certificate } from 'node:crypto'
import type { SsoCertificate } from '@millrace/contract/resources/sso-config.ts'
import { auditEventOf } from '../../../../platform/audit.ts'
import { createSelfSignedCertificate } from '../../../../platform/crypto/self-signed-certificate.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, normalizeId } from '../../../../platform/ids.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller } from '../../sessions/principal.ts'
import {
  createCertificateStore,
  type SigningCertificate,
  type StoredCertificate,
} from './certificate-store.ts'

const day = 86_400_000
const validDays = 3 * 365
const maxCertificates = 2

/** SHA-256 of a certificate in PEM, in hexadecimal. */
export function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase()
}

export type CertificateService = ReturnType<typeof createCertificateService>

/** What our requests to identity providers are signed with: one key per company, two while it is being changed. */
export function createCertificateService(dependencies: IdentityContext) {
  const { relational, box, recordAudit, clock } = dependencies
  const store = createCertificateStore(relational.db, box)

  const isValid = ({ notAfter }: StoredCertificate) => notAfter.getTime() > clock.now()

  /** The oldest that is valid; another one takes over when it is retired or ends. */
  const signerOf = (certificates: readonly StoredCertificate[]) => certificates.find(isValid)

  function toResource(certificate: StoredCertificate, signer: StoredCertificate | undefined): SsoCertificate {
    return {
      id: certificate.id,
      certificate: certificate.certificate,
      fingerprint: fingerprintOf(certificate.certificate),
      signs: certificate.id === signer?.id,
      expiresAt: certificate.notAfter.toISOString(),
      createdAt: certificate.createdAt.toISOString(),
    }
  }

  const target = ({ id, certificate }: { readonly id: string; readonly certificate: string }) => ({
    kind: 'sso-certificate',
    id,
    name: fingerprintOf(certificate),
  })

  return {
    /** A new key, made before the transaction that stores it: it takes a while. */
    async prepare(companyId: string): Promise<Omit<SigningCertificate, 'createdAt'>> {
      const from = clock.now()
      // A clock of the identity provider that is behind ours must not find it in the future.
      const notBefore = new Date(from - day)
      const notAfter = new Date(Math.floor((from + validDays * day) / 1000) * 1000)
      const made = await createSelfSignedCertificate({ name: `Millrace ${companyId}`, notBefore, notAfter })
      return { id: newId(), companyId, notAfter, ...made }
    },

    /** Inside a transaction that holds the company: stores the certificate when there is no valid one. */
    async insertFirst(tx: Queries, prepared: Omit<SigningCertificate, 'createdAt'>): Promise<void> {
      const held = createCertificateStore(tx, box)
      if (!(await held.list(prepared.companyId)).some(isValid)) await held.insert(prepared)
    },

    async hasValid(companyId: string): Promise<boolean> {
      return (await store.list(companyId)).some(isValid)
    },

    async list(companyId: string): Promise<SsoCertificate[]> {
      const certificates = await store.list(companyId)
      const signer = signerOf(certificates)
      return certificates.map((each) => toResource(each, signer))
    },

    /** What signs now, with every valid certificate; undefined when there is none. */
    async findSigning(
      companyId: string,
    ): Promise<{ privateKey: string; certificates: readonly string[] } | undefined> {
      const certificates = (await store.list(companyId)).filter(isValid)
      const signer = signerOf(certificates)
      const privateKey = signer && (await store.openKey(companyId, signer.id))
      return privateKey
        ? { privateKey, certificates: certificates.map((each) => each.certificate) }
        : undefined
    },

    /** @throws DomainError `tooManyCertificates` */
    async rotate(caller: Caller): Promise<SsoCertificate> {
      const { companyId } = caller.principal
      const prepared = await this.prepare(companyId)
      await relational.transaction(async (tx) => {
        await createPeopleStore(tx).lockCompany(companyId)
        const held = createCertificateStore(tx, box)
        const present = await held.list(companyId)
        // Ended ones are useless and make room.
        for (const ended of present.filter((each) => !isValid(each))) await held.delete(companyId, ended.id)
        if (present.filter(isValid).length >= maxCertificates) throw new DomainError('tooManyCertificates')
        await held.insert(prepared)
        await recordAudit(tx, auditEventOf(caller, 'sso-certificate-rotate', target(prepared)))
      })
      const made = (await this.list(companyId)).find(({ id }) => id === prepared.id)
      if (!made) throw new DomainError('certificateNotFound', { id: prepared.id })
      return made
    },

    /** @throws DomainError `certificateNotFound` or `certificateInUse` */
    async retire(caller: Caller, givenId: string): Promise<void> {
      const id = normalizeId(givenId)
      const { companyId } = caller.principal
      await relational.transaction(async (tx) => {
        await createPeopleStore(tx).lockCompany(companyId)
        const held = createCertificateStore(tx, box)
        const present = await held.list(companyId)
        const found = present.find((each) => each.id === id)
        if (!found) throw new DomainError('certificateNotFound', { id })
        if (!present.some((each) => each.id !== id && isValid(each)))
          throw new DomainError('certificateInUse', { id })
        await held.delete(companyId, id)
        await recordAudit(tx, auditEventOf(caller, 'sso-certificate-retire', target(found)))
      })
    },
  }
}
