import { createDatasourceStore } from '../../src/features/datasources/datasource-store.ts'
import { createWorkerStore, headersContext } from '../../src/features/datasources/refreshes/worker-store.ts'
import {
  everySealedColumn,
  type SealedColumn,
  tableOf,
} from '../../src/features/encryption/key-rotation-store.ts'
import { createErasureStore, referenceContext } from '../../src/features/events/persons/erasure-store.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import {
  authenticatorContext,
  createAuthenticatorStore,
} from '../../src/features/identity/sign-in/second-factor/authenticator-store.ts'
import { createCertificateStore } from '../../src/features/identity/single-sign-on/certificates/certificate-store.ts'
import {
  createLinkedAccountStore,
  targetContext,
} from '../../src/features/linked-accounts/linked-account-store.ts'
import { createMailQueue } from '../../src/features/mail/mail-store.ts'
import { createRunnerStore } from '../../src/features/personalisation/display/runner-store.ts'
import type { SecretBox } from '../../src/platform/crypto/secret-box.ts'
import { newId } from '../../src/platform/ids.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'

/** A company with one person, who has something sealed in every table, this many of what there may be many of. */
export async function sealEverywhere(relational: Relational, box: SecretBox, count = 1): Promise<void> {
  const { db, pool } = relational
  const { companyId } = await relational.transaction((tx) => insertCompany(tx, 'Sealed'))
  const userId = newId()
  await pool.query(
    `insert into users (id, company_id, email, status, role_id)
     select $1::text, $2, $1 || '@example.com', 'active', id from roles where company_id = $2 and name = 'viewer'`,
    [userId, companyId],
  )
  const authenticator = box.seal(`authenticator of ${userId}`, authenticatorContext(userId))
  await createAuthenticatorStore(db).offer(userId, authenticator)
  const enqueueMail = createMailQueue(box)
  await createRunnerStore(db, box).findCompany(companyId)
  const certificates = createCertificateStore(db, box)
  const linked = createLinkedAccountStore(db)
  const teamIds = (
    await pool.query<{ id: string }>('select id from teams where company_id = $1', [companyId])
  ).rows
  async function insertWorker(datasourceId: string): Promise<void> {
    const datasource = { id: datasourceId, companyId, name: 'Feed', kind: 'worker' } as const
    await createDatasourceStore(db).insert({ ...datasource, teamIds: teamIds.map((team) => team.id) })
    const sealedHeaders = box.seal(`headers of ${datasourceId}`, headersContext(datasourceId))
    await createWorkerStore(db).insert({ datasourceId, companyId, type: 'generic', sealedHeaders })
  }
  for (let i = 0; i < count; i++) {
    await enqueueMail(db, companyId, { to: `${i}@example.com`, subject: `Mail ${i}`, text: 'x' })
    const certificate = { id: newId(), companyId, certificate: 'x', notAfter: new Date('2099-01-01') }
    await certificates.insert({ ...certificate, privateKey: `key of ${certificate.id}` })
    const id = newId()
    const account = { id, companyId, userId, provider: 'webhook', name: `Hook ${i}`, host: 'h' } as const
    const sealedTarget = box.seal(`target of ${id}`, targetContext(id))
    await linked.insert({ ...account, sealedTarget })
    await insertWorker(id)
    const erasure = newId()
    await createErasureStore(db).insert({
      id: erasure,
      companyId,
      requestedBy: userId,
      sealedReference: box.seal(`person of ${erasure}`, referenceContext(erasure)),
      refuseDays: 30,
    })
  }
}

/** Rows of one column: id and what is sealed. */
export async function readSealed(
  { pool }: Pick<Relational, 'pool'>,
  sealed: SealedColumn,
): Promise<{ id: string; secret: Buffer }[]> {
  const { rows } = await pool.query<{ id: string; secret: Buffer }>(
    `select ${sealed.id.name} as id, ${sealed.column.name} as secret from ${tableOf(sealed)}
     where ${sealed.column.name} is not null order by 1`,
  )
  return rows
}

/** What every sealed secret says, by table and row. @throws SecretBoxError when one does not open */
export async function openEverywhere(
  relational: Pick<Relational, 'pool'>,
  box: SecretBox,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const sealed of everySealedColumn)
    for (const { id, secret } of await readSealed(relational, sealed))
      found.set(`${tableOf(sealed)} ${id}`, box.open(secret, sealed.contextOf(id)).toString())
  return found
}
