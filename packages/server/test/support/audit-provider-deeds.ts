import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import { type AuditWorld, type Deed, fresh, type Made, type Told } from './audit-world.ts'
import { aGroup, aUser } from './provisioning.ts'
import { signInThrough } from './single-sign-on.ts'

/** The deed of an administrator of single sign-on, to something of this kind. */
const configured =
  (kind: string, act: (world: AuditWorld, begin: () => Promise<void>) => Promise<Made>): Deed =>
  async (world) => {
    const { id } = await act(world, () => world.begin(world.saml))
    return { actor: ['user', world.saml.adminId], target: [kind, id] }
  }

/** The deed of an administrator of provisioning. */
const provisioned =
  (kind: string, act: (world: AuditWorld, begin: () => Promise<void>) => Promise<string | null>): Deed =>
  async (world) => {
    const id = await act(world, () => world.begin(world.scim))
    return { actor: ['user', world.scim.admin.id], target: [kind, id] }
  }

async function identityProviderOf({ scim }: AuditWorld): Promise<Told['actor']> {
  const { rows } = await scim.relational.pool.query<Made>(
    'select id from scim_tokens where company_id = $1 order by created_at, id limit 1',
    [scim.companyId],
  )
  return ['identity-provider', rows[0]?.id ?? null]
}

const addDomain = ({ saml, ask }: AuditWorld) =>
  ask<Made & { recordName: string; recordValue: string }>(saml, 'POST', '/entities/sso/domains', {
    domain: `${fresh('shop')}.example`,
  })

interface Certificate extends Made {
  readonly fingerprint: string
}

/** The deed of an administrator of single sign-on, to a certificate, which the log knows by its fingerprint too. */
const certified =
  (act: (world: AuditWorld, begin: () => Promise<void>) => Promise<Certificate>): Deed =>
  async (world) => {
    const { id, fingerprint } = await act(world, () => world.begin(world.saml))
    return { actor: ['user', world.saml.adminId], target: ['sso-certificate', id, fingerprint] }
  }

/** A certificate beside the one that signs. */
async function rotate(
  { saml, ask, configureSaml }: AuditWorld,
  begin: () => Promise<void>,
): Promise<Certificate> {
  await configureSaml()
  await saml.relational.pool.query(
    'delete from sso_certificates where id not in (select min(id) from sso_certificates)',
  )
  await begin()
  return ask<Certificate>(saml, 'POST', '/entities/sso/certificates')
}

/** Rows of what identity providers do, and of what is set about them. */
export const providerDeeds = {
  'sso-sign-in': async (world) => {
    const { saml, begin, configureSaml } = world
    await configureSaml()
    const email = `${fresh('known')}@acme.example`
    const { id } = await saml.auth.addUser(email)
    saml.idp.state.person = { nameId: email, attributes: { email } }
    await begin(saml)
    await signInThrough(saml, saml.idp, 'acme.example')
    return { actor: ['user', id], target: ['user', id], also: ['application-authorize'] }
  },
  'sso-user-create': async (world) => {
    const { saml, begin, configureSaml } = world
    const roles = await saml.relational.pool.query<Made>(
      `select id from roles where company_id = $1 and name = 'viewer'`,
      [saml.companyId],
    )
    await configureSaml({ provisioning: 'create', defaultRoleId: roles.rows[0]?.id })
    const email = `${fresh('new')}@acme.example`
    saml.idp.state.person = { nameId: email, attributes: { email, firstName: 'Ada', lastName: 'L' } }
    await begin(saml)
    await signInThrough(saml, saml.idp, 'acme.example')
    const { rows } = await saml.relational.pool.query<Made>('select id from users where email = $1', [email])
    return {
      actor: ['sso-jit', 'sso-jit'],
      target: ['user', rows[0]?.id ?? null],
      also: ['application-authorize', 'sso-sign-in'],
    }
  },
  'sso-unlink': configured('user', async ({ saml, ask, configureSaml }, begin) => {
    await configureSaml()
    const email = `${fresh('linked')}@acme.example`
    const user = await saml.auth.addUser(email)
    saml.idp.state.person = { nameId: email, attributes: { email } }
    await signInThrough(saml, saml.idp, 'acme.example')
    await begin()
    await ask(saml, 'DELETE', `/entities/users/${user.id}/sso-link`)
    return user
  }),
  'sso-config-update': configured('sso-config', async ({ saml, ask, configureSaml }, begin) => {
    await configureSaml()
    await begin()
    await ask(saml, 'PATCH', '/entities/sso/config', { provisioning: 'invitation' })
    return { id: saml.companyId }
  }),
  'sso-config-delete': configured('sso-config', async ({ saml, ask, configureSaml }, begin) => {
    await configureSaml()
    await begin()
    await ask(saml, 'DELETE', '/entities/sso/config')
    return { id: saml.companyId }
  }),
  'sso-domain-add': configured('sso-domain', async (world, begin) => {
    await begin()
    return addDomain(world)
  }),
  'sso-domain-verify': configured('sso-domain', async (world, begin) => {
    const { saml, ask } = world
    const domain = await addDomain(world)
    saml.seen.records.set(domain.recordName, [domain.recordValue])
    await begin()
    return ask<Made>(saml, 'POST', `/entities/sso/domains/${domain.id}/verify`)
  }),
  'sso-domain-remove': configured('sso-domain', async (world, begin) => {
    const domain = await addDomain(world)
    await begin()
    await world.ask(world.saml, 'DELETE', `/entities/sso/domains/${domain.id}`)
    return domain
  }),
  'sso-certificate-rotate': certified(rotate),
  'sso-certificate-retire': certified(async (world, begin) => {
    const certificate = await rotate(world, async () => {})
    await begin()
    await world.ask(world.saml, 'DELETE', `/entities/sso/certificates/${certificate.id}`)
    return certificate
  }),

  'scim-request': async (world) => {
    const { scim, begin } = world
    await begin(scim)
    await scim.scim('GET', '/Users?count=1')
    return { actor: await identityProviderOf(world), target: null }
  },
  'scim-config-update': provisioned('scim-config', async ({ scim, ask }, begin) => {
    const { enabled } = await ask<{ enabled: boolean }>(scim, 'PATCH', '/entities/scim/config', {
      groupSync: false,
    })
    if (!enabled) throw new Error('provisioning is off')
    await begin()
    await ask(scim, 'PATCH', '/entities/scim/config', { groupSync: true })
    return null
  }),
  'scim-token-create': provisioned('scim-token', async ({ scim, ask }, begin) => {
    await begin()
    const { id } = await ask<Made>(scim, 'POST', '/entities/scim/tokens', { label: 'Second' })
    await scim.relational.pool.query('delete from scim_tokens where id = $1', [id])
    return id
  }),
  'scim-token-revoke': provisioned('scim-token', async ({ scim, ask }, begin) => {
    const { id } = await ask<Made>(scim, 'POST', '/entities/scim/tokens', { label: 'Second' })
    await begin()
    await ask(scim, 'DELETE', `/entities/scim/tokens/${id}`)
    return id
  }),
  'scim-unmatched-value': async (world) => {
    const { scim, ask, begin } = world
    const defaultRoleId = await scim.roleId('viewer')
    await ask(scim, 'PATCH', '/entities/scim/config', {
      roleSource: 'groups',
      defaultRoleId,
      groupSync: true,
    })
    const { body: user } = await scim.scim('POST', '/Users', aUser(`${fresh('member')}@acme.example`))
    await begin(scim)
    await scim.scim('POST', '/Groups', aGroup(fresh('Nobody knows '), [user.id]))
    const told: Told = {
      actor: await identityProviderOf(world),
      target: ['user', user.id],
      also: ['team-create', 'scim-request'],
    }
    await scim.relational.pool.query('update scim_configs set role_source = null')
    return told
  },

  'user-create': async (world) => {
    const { scim, begin } = world
    await begin(scim)
    const { body } = await scim.scim('POST', '/Users', aUser(`${fresh('person')}@acme.example`))
    return { actor: await identityProviderOf(world), target: ['user', body.id], also: ['scim-request'] }
  },
} satisfies Partial<Record<AuditAction, Deed>>
