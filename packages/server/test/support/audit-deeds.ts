import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import { secretIn } from './accounts.ts'
import type { AuditWorld, Told } from './audit-world.ts'
import { goodPassword, testRedirectUri } from './auth.ts'
import { turnOnAuthenticator } from './authenticator.ts'
import { challengeOf, verifier, walkToPassword } from './authorization.ts'
import { requireByRows } from './mandatory-domain.ts'
import { aGroup, aUser } from './provisioning.ts'
import { signInThrough } from './single-sign-on.ts'

/** Prepares, calls `begin`, does the one thing and says what the entry has to tell. */
export type Deed = (world: AuditWorld) => Promise<Told>

interface Made {
  readonly id: string
}

const newPassword = 'ten thousand geese'
let counter = 0
const fresh = (what: string): string => `${what}${++counter}`

/** The deed of an administrator of accounts, to something of this kind. */
const administered =
  (kind: string, act: (world: AuditWorld, begin: () => Promise<void>) => Promise<string | Made>): Deed =>
  async (world) => {
    const made = await act(world, () => world.begin(world.people))
    const id = typeof made === 'string' ? made : made.id
    return { actor: ['user', world.people.admin.id], target: [kind, id] }
  }

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

async function invite({ people, ask }: AuditWorld): Promise<{ id: string; url: string }> {
  const { rows } = await people.relational.pool.query<Made>(
    'select id from teams where company_id = $1 and is_default',
    [people.companyId],
  )
  const body = {
    email: `${fresh('guest')}@example.com`,
    roleId: await people.roleIdOf('viewer'),
    resourceGroupIds: [rows[0]?.id],
  }
  const { user, url } = await ask<{ user: Made; url: string }>(people, 'POST', '/entities/invitations', body)
  return { id: user.id, url }
}

const addDomain = ({ saml, ask }: AuditWorld) =>
  ask<Made & { recordName: string; recordValue: string }>(saml, 'POST', '/entities/sso/domains', {
    domain: `${fresh('shop')}.example`,
  })

interface Certificate extends Made {
  readonly fingerprint: string
}

/** The deed of an administrator of single sign-on, to a certificate, which the log knows by its fingerprint. */
const certified =
  (act: (world: AuditWorld, begin: () => Promise<void>) => Promise<Certificate>): Deed =>
  async (world) => {
    const { fingerprint } = await act(world, () => world.begin(world.saml))
    return { actor: ['user', world.saml.adminId], target: ['sso-certificate', null, fingerprint] }
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

/** One row for each action of the audit log. */
export const auditDeeds: Readonly<Record<AuditAction, Deed>> = {
  'sign-in': async ({ people, begin }) => {
    const { id, email } = await people.person()
    await begin(people)
    await people.signInAs(email)
    return { actor: ['user', id], target: null }
  },
  'sign-out': async ({ people, begin }) => {
    const { id, token } = await people.person()
    await begin(people)
    await people.call(token, 'DELETE', '/users/me/sessions')
    return { actor: ['user', id], target: ['user', id] }
  },
  'password-change': async ({ people, begin }) => {
    const { id, token } = await people.person()
    await begin(people)
    await people.call(token, 'POST', '/users/me/password', { currentPassword: goodPassword, newPassword })
    return { actor: ['user', id], target: ['user', id] }
  },
  'password-reset-request': administered('user', async ({ people, ask }, begin) => {
    const { id, email } = await people.person()
    await begin()
    await ask(people, 'POST', '/entities/users/password-reset', { email })
    return id
  }),
  'password-reset': async ({ people, ask, begin }) => {
    const { id, email } = await people.person()
    await people.takeMails()
    await ask(people, 'POST', '/entities/users/password-reset', { email })
    const secret = secretIn((await people.lastMail()).text)
    await begin(people)
    await people.services.passwordLinks.redeem(secret, newPassword, { address: '192.0.2.9' })
    return { actor: ['user', id], target: ['user', id] }
  },
  'authenticator-enable': async ({ people, begin }) => {
    const { id, token } = await people.person()
    await begin(people)
    await turnOnAuthenticator(people.auth, token)
    return { actor: ['user', id], target: null }
  },
  'authenticator-disable': administered('user', async ({ people, ask }, begin) => {
    const { id, token } = await people.person()
    await turnOnAuthenticator(people.auth, token)
    await begin()
    await ask(people, 'DELETE', `/entities/users/${id}/authenticator`)
    return id
  }),
  'recovery-code-use': async ({ people, begin }) => {
    const { id, email, token } = await people.person()
    const { recoveryCodes } = await turnOnAuthenticator(people.auth, token)
    await begin(people)
    await people.post({
      grant_type: 'password',
      client_id: people.clientId,
      username: email,
      password: goodPassword,
      'x-otp-code': recoveryCodes[0],
    })
    return { actor: ['user', id], target: null, also: ['sign-in'] }
  },

  'sso-sign-in': async (world) => {
    const { saml, begin, configureSaml } = world
    await configureSaml()
    const email = `${fresh('known')}@acme.example`
    const { id } = await saml.auth.addUser(email)
    saml.idp.state.person = { nameId: email, attributes: { email } }
    await begin(saml)
    await signInThrough(saml, saml.idp, 'acme.example')
    return { actor: ['user', id], target: ['user', id] }
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
      also: ['sso-sign-in'],
    }
  },
  'sso-required': async ({ people, begin }) => {
    const domain = `${fresh('bound')}.example`
    const { id, email } = await people.person('viewer', people.companyId, domain)
    await requireByRows(people.relational, people.companyId, domain)
    await begin(people)
    await people.signIn(email)
    return { actor: ['anonymous', null], target: ['user', id], error: 'invalidCredentials' }
  },
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

  'user-invite': administered('user', async (world, begin) => {
    await begin()
    return invite(world)
  }),
  'user-create': async (world) => {
    const { scim, begin } = world
    await begin(scim)
    const { body } = await scim.scim('POST', '/Users', aUser(`${fresh('person')}@acme.example`))
    return { actor: await identityProviderOf(world), target: ['user', body.id], also: ['scim-request'] }
  },
  'user-update': administered('user', async ({ people, ask }, begin) => {
    const { id } = await people.person()
    await begin()
    await ask(people, 'PATCH', `/entities/users/${id}`, { firstName: 'Grace' })
    return id
  }),
  'user-deactivate': administered('user', async ({ people, ask }, begin) => {
    const { id } = await people.person()
    await begin()
    await ask(people, 'POST', `/entities/users/${id}/deactivate`)
    return id
  }),
  'user-reactivate': administered('user', async ({ people, ask }, begin) => {
    const { id } = await people.person()
    await ask(people, 'POST', `/entities/users/${id}/deactivate`)
    await begin()
    await ask(people, 'POST', `/entities/users/${id}/reactivate`)
    return id
  }),
  'user-delete': administered('user', async ({ people, ask }, begin) => {
    const { id } = await people.person()
    await begin()
    await ask(people, 'DELETE', `/entities/users/${id}`)
    return id
  }),
  'invitation-renew': administered('user', async (world, begin) => {
    const { id } = await invite(world)
    await begin()
    await world.ask(world.people, 'POST', `/entities/invitations/${id}/renew`, {})
    return id
  }),
  'invitation-accept': async (world) => {
    const { id, url } = await invite(world)
    await world.begin(world.people)
    await world.people.services.passwordLinks.redeem(secretIn(url), newPassword, { address: '192.0.2.9' })
    return { actor: ['user', id], target: ['user', id] }
  },
  'invitation-delete': administered('user', async (world, begin) => {
    const { id } = await invite(world)
    await begin()
    await world.ask(world.people, 'DELETE', `/entities/invitations/${id}`)
    return id
  }),
  'role-create': administered('role', async ({ people, ask }, begin) => {
    await begin()
    const permissions = ['datasource:read']
    return ask<Made>(people, 'POST', '/entities/roles', { name: fresh('Reader '), permissions })
  }),
  'role-update': administered('role', async ({ people, ask }, begin) => {
    const { id } = await people.role(['datasource:read'])
    await begin()
    await ask(people, 'PATCH', `/entities/roles/${id}`, { permissions: [] })
    return id
  }),
  'role-delete': administered('role', async ({ people, ask }, begin) => {
    const { id } = await people.role(['datasource:read'])
    await begin()
    await ask(people, 'DELETE', `/entities/roles/${id}`)
    return id
  }),
  'team-create': administered('team', async ({ people, ask }, begin) => {
    await begin()
    return ask<Made>(people, 'POST', '/entities/teams', { name: fresh('Sales ') })
  }),
  'team-update': administered('team', async ({ people, ask }, begin) => {
    const id = await people.team()
    await begin()
    await ask(people, 'PATCH', `/entities/teams/${id}`, { description: 'Whoever sells' })
    return id
  }),
  'team-delete': administered('team', async ({ people, ask }, begin) => {
    const id = await people.team()
    await begin()
    await ask(people, 'DELETE', `/entities/teams/${id}`)
    return id
  }),
  'linked-account-create': async ({ links, begin }) => {
    await begin(links)
    const id = await links.link(links.tokens.ada)
    return { actor: ['user', links.userIds.ada], target: ['linked-account', id] }
  },
  'linked-account-delete': async ({ links, begin }) => {
    const id = await links.link(links.tokens.bob)
    await begin(links)
    await links.auth.call(links.tokens.bob, 'DELETE', `/v2/linked-accounts/${id}`)
    return { actor: ['user', links.userIds.bob], target: ['linked-account', id] }
  },
  'company-update': administered('company', async ({ people, ask }, begin) => {
    await begin()
    await ask(people, 'PATCH', '/entities/company', { name: fresh('Acme ') })
    return people.companyId
  }),

  'application-consent': async ({ people, begin }) => {
    const { id, email } = await people.person()
    const redirectUris = [testRedirectUri]
    const client = await people.clients.createClient({ name: 'Third party', grants: [], redirectUris })
    await people.relational.pool.query('update oauth_clients set first_party = false where id = $1', [
      client.id,
    ])
    const { browser, page } = await walkToPassword(people.auth, email, goodPassword, { client_id: client.id })
    await begin(people)
    await browser.submit(page, { decision: 'allow' })
    return { actor: ['user', id], target: ['client', client.id], also: ['sign-in'] }
  },
  'application-authorize': async ({ people, begin }) => {
    const { id, email } = await people.person()
    await begin(people)
    await people.signInService.finishSingleSignOn({
      userId: id,
      companyId: people.companyId,
      email,
      method: 'sso',
      browser: 'a browser',
      address: '192.0.2.9',
      request: {
        clientId: people.clientId,
        redirectUri: testRedirectUri,
        state: 's',
        codeChallenge: challengeOf(verifier),
        language: 'en',
      },
    })
    return { actor: ['user', id], target: null }
  },
  'token-revoke': async ({ people, begin }) => {
    const { id, token } = await people.person()
    await begin(people)
    await people.app.inject({
      method: 'POST',
      url: '/v2/oauth/revoke',
      payload: { client_id: people.clientId, token },
    })
    return { actor: ['user', id], target: null }
  },
}
