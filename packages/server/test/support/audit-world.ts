import type { ErrorName } from '@millrace/contract/errors.ts'
import type { AuditAction, AuditActorKind } from '@millrace/contract/resources/audit-entry.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'
import { type AccountsApp, createAccountsApp, type Person } from './accounts.ts'
import type { Auth, Body } from './auth.ts'
import { certificateOf, type IdentityProvider, startIdentityProvider } from './identity-provider.ts'
import { createLinkedAccountsApp, type LinkedAccountsApp } from './linked-accounts.ts'
import { createTestDatabase } from './postgres.ts'
import { openProvisioning, type ProvisioningApp } from './provisioning.ts'
import { createSingleSignOnApp, mapping, type SingleSignOnApp, tokenOf } from './single-sign-on.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** Kind and identifier, or the name where there is no identifier. */
type Party<Kind extends string> = readonly [kind: Kind, id: string | null, name?: string]

/** What the entry of a deed has to say, and what else the deed leaves in the log. */
export interface Told {
  readonly actor: Party<AuditActorKind>
  readonly target: Party<string> | null
  /** What the service does by itself comes from no network address. */
  readonly isUnaddressed?: true
  /** Of a deed that is refused. */
  readonly error?: ErrorName
  readonly also?: readonly AuditAction[]
}

/** An entry as it is kept. */
export interface Entry {
  readonly id: string
  readonly action: AuditAction
  readonly category: string
  readonly company_id: string | null
  readonly actor_kind: AuditActorKind
  readonly actor_id: string | null
  readonly target_kind: string | null
  readonly target_id: string | null
  readonly outcome: string
  readonly error: string | null
  readonly address: string | null
}

interface Place {
  readonly relational: Pick<Relational, 'pool'>
  readonly companyId: string
}

/** The features that leave entries, each over a company of its own, with an administrator who calls operations. */
export interface AuditWorld {
  readonly people: AccountsApp & Place & { readonly admin: Person; readonly relational: Relational }
  readonly saml: SingleSignOnApp & Place & { readonly idp: IdentityProvider; readonly adminId: string }
  readonly scim: ProvisioningApp & Place
  readonly links: LinkedAccountsApp & Place
  /** Calls an operation as the administrator of a place, which has to succeed. */
  ask<T>(place: Place, method: Method, path: string, body?: Body): Promise<T>
  /** Configures single sign-on for `acme.example` unless it is. */
  configureSaml(fields?: Body): Promise<void>
  /** What is recorded there from now on belongs to the deed. */
  begin(place: Place): Promise<void>
  /** Entries since then, and the company that they have to be of. */
  entries(): Promise<{ readonly entries: Entry[]; readonly companyId: string }>
  close(): Promise<void>
}

/** Prepares, calls `begin`, does the one thing and says what the entry has to tell. */
export type Deed = (world: AuditWorld) => Promise<Told>

/** What an operation that makes something answers. */
export interface Made {
  readonly id: string
}

let counter = 0
/** A name that nothing has yet. */
export const fresh = (what: string): string => `${what}${++counter}`

export async function openAuditWorld(): Promise<AuditWorld> {
  const peopleStore = await createTestDatabase()
  const accounts = await createAccountsApp(peopleStore)
  const people = { ...accounts, relational: peopleStore, admin: await accounts.person('admin') }

  const samlStore = await createTestDatabase()
  const idp = await startIdentityProvider()
  const sso = await createSingleSignOnApp(samlStore)
  const samlToken = await tokenOf(sso.auth, 'root@elsewhere.example')
  const { rows } = await samlStore.pool.query<{ id: string }>(
    `select id from users where email = 'root@elsewhere.example'`,
  )
  const { companyId } = sso.auth
  const saml = { ...sso, idp, relational: samlStore, companyId, adminId: rows[0]?.id ?? '' }

  const provisioning = await openProvisioning()
  const scim = { ...provisioning, relational: provisioning.database }
  const linked = await createLinkedAccountsApp()
  const links = { ...linked, relational: linked.database, companyId: linked.auth.companyId }

  const administrators = new Map<Place, readonly [Auth, string]>([
    [people, [people.auth, people.admin.token]],
    [saml, [saml.auth, samlToken]],
    [scim, [scim.auth, scim.admin.accessToken]],
    [links, [links.auth, links.tokens.admin]],
  ])
  const ask: AuditWorld['ask'] = async (place, method, path, body) => {
    const found = administrators.get(place)
    if (!found) throw new Error('nobody administers this place')
    const [auth, token] = found
    const reply = await auth.call(token, method, `/v2${path}`, body)
    if (reply.statusCode !== 200) throw new Error(`${method} ${path}: ${reply.body}`)
    return reply.json().data
  }

  let begun: Place | undefined
  let known = new Set<string>()
  const read = async ({ relational }: Place): Promise<Entry[]> =>
    (await relational.pool.query<Entry>('select * from audit_entries order by at, id')).rows

  return {
    people,
    saml,
    scim,
    links,
    ask,
    async configureSaml(fields = {}) {
      const body = { idpMetadataXml: await idp.metadata(), attributeMapping: mapping, ...fields }
      const { acsUrl } = await ask<{ acsUrl: string }>(saml, 'PUT', '/entities/sso/config', body)
      await saml.singleSignOn.domains.verifyByOperator(companyId, 'acme.example')
      const metadata = await saml.auth.app.inject(`/v2/sso/saml/${companyId}/metadata`)
      Object.assign(idp.state, { acsUrl, signingCert: certificateOf(metadata.body) })
    },
    async begin(place) {
      begun = place
      known = new Set((await read(place)).map(({ id }) => id))
    },
    async entries() {
      if (!begun) throw new Error('no deed has begun')
      const entries = (await read(begun)).filter(({ id }) => !known.has(id))
      return { entries, companyId: begun.companyId }
    },
    async close() {
      for (const { auth, relational } of [people, saml]) {
        await auth.app.close()
        await (relational as Relational).close()
      }
      await Promise.all([idp.close(), scim.close(), links.close()])
    },
  }
}
