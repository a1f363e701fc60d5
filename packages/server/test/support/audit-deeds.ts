import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { createOperatorAccountService } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { newId } from '../../src/platform/ids.ts'
import { secretIn } from './accounts.ts'
import { analyticsDeeds } from './audit-analytics-deeds.ts'
import { datasourceDeeds } from './audit-datasource-deeds.ts'
import { experimentDeeds } from './audit-experiment-deeds.ts'
import { providerDeeds } from './audit-provider-deeds.ts'
import { settingDeeds } from './audit-setting-deeds.ts'
import { workflowDeeds } from './audit-workflow-deeds.ts'
import { type AuditWorld, type Deed, fresh, type Made } from './audit-world.ts'
import { cheapPasswords, goodPassword, testRedirectUri } from './auth.ts'
import { turnOnAuthenticator } from './authenticator.ts'
import { challengeOf, verifier, walkToPassword } from './authorization.ts'
import { insertExport } from './exports.ts'
import { requireByRows } from './mandatory-domain.ts'

const newPassword = 'ten thousand geese'

/** The deed of an administrator of accounts, to something of this kind. */
const administered =
  (kind: string, act: (world: AuditWorld, begin: () => Promise<void>) => Promise<string | Made>): Deed =>
  async (world) => {
    const made = await act(world, () => world.begin(world.people))
    const id = typeof made === 'string' ? made : made.id
    return { actor: ['user', world.people.admin.id], target: [kind, id] }
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

/** The deed of an administrator to a cohort that is there. */
const ofCohort = (method: 'PATCH' | 'DELETE', body?: { name: string }): Deed =>
  administered('cohort', async ({ people, ask }, begin) => {
    const made = await ask<Made>(people, 'POST', '/statistics/cohorts', cohortBody())
    await begin()
    await ask(people, method, `/statistics/cohorts/${made.id}`, body)
    return made.id
  })

const ada = { clientIds: ['ada'] }

/** What an administrator does to the data of a person. */
const ofPersons = (what: 'search' | 'erase', kind: 'company' | 'person-erasure'): Deed =>
  administered(kind, async ({ people, ask }, begin) => {
    await begin()
    const made = await ask<Partial<Made>>(people, 'POST', `/entities/persons/${what}`, ada)
    return made.id ?? people.companyId
  })

async function companyOfOperator({ relational, companyId }: AuditWorld['people']) {
  const { rows } = await relational.pool.query<Made & { name: string }>(
    'select id, name from companies where id = $1',
    [companyId],
  )
  const [company] = rows
  if (!company) throw new Error('there is no company')
  const passwords = cheapPasswords()
  return { ...company, accounts: createOperatorAccountService({ relational, passwords, recordAudit }) }
}

const byOperator = (id: string) =>
  ({ actor: ['operator', null], target: ['company', id], isUnaddressed: true }) as const

const exportsPath = '/statistics/exports'

/** What an administrator does to an export that is there. */
const ofExport = (act: (world: AuditWorld, path: string) => Promise<unknown>): Deed =>
  administered('statistics-export', async (world, begin) => {
    const { people } = world
    const { exportDirectory } = people.auth.context.config
    const id = await insertExport(people.relational, exportDirectory, {
      companyId: people.companyId,
      userId: people.admin.id,
    })
    await begin()
    await act(world, `${exportsPath}/${id}`)
    return id
  })

const cohortBody = () => ({ name: fresh('cohort '), rule: { event: { events: ['purchase'] } } })

/** One row for each action of the audit log. */
export const auditDeeds: Readonly<Record<AuditAction, Deed>> = {
  ...providerDeeds,
  ...analyticsDeeds,
  ...experimentDeeds,
  ...workflowDeeds,
  ...settingDeeds,
  ...datasourceDeeds,

  'person-search': ofPersons('search', 'company'),
  'person-export': administered('company', async ({ people }, begin) => {
    await begin()
    // Its reply is no envelope.
    const { statusCode, body } = await people.auth.call(
      people.admin.token,
      'POST',
      '/v2/entities/persons/export',
      ada,
    )
    if (statusCode !== 200) throw new Error(body)
    return people.companyId
  }),
  'statistics-export-create': administered('statistics-export', async ({ people, ask }, begin) => {
    await begin()
    return ask<Made>(people, 'POST', exportsPath, { table: 'events', from: '2026-03-01' })
  }),
  'statistics-export-download': ofExport(async ({ people }, path) => {
    // Its reply is no envelope.
    const { statusCode, body } = await people.auth.call(
      people.admin.token,
      'GET',
      `/v2${path}/files/2026-03-01.parquet`,
    )
    if (statusCode !== 200) throw new Error(body)
  }),
  'statistics-export-delete': ofExport(({ people, ask }, path) => ask(people, 'DELETE', path)),
  'person-erase': ofPersons('erase', 'person-erasure'),

  'schedule-pause': async ({ people, begin }) => {
    const { id: ownerId } = await people.personWith('statistics:access')
    const id = newId()
    await people.relational.pool.query(
      `insert into saved_queries (id, company_id, owner_id, name, queries, schedule, next_run_at, planned_to)
       values ($1, $2, $3, 'Sales', '[]', $4, now(), now() - interval '2 days')`,
      [id, people.companyId, ownerId, { frequency: 'daily', time: '08:00', recipients: ['a@example.com'] }],
    )
    const { planner, worker } = people.auth.services.savedQueries.loops
    // Its owner's role allows no exports.
    await planner.plan()
    await begin(people)
    people.auth.time.advance(10_000)
    await worker.runOne()
    return { actor: ['platform', null], target: ['saved-query', id, 'Sales'], isUnaddressed: true }
  },
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

  'sso-required': async ({ people, begin }) => {
    const domain = `${fresh('bound')}.example`
    const { id, email } = await people.person('viewer', people.companyId, domain)
    await requireByRows(people.relational, people.companyId, domain)
    await begin(people)
    await people.signIn(email)
    return { actor: ['anonymous', null], target: ['user', id], error: 'invalidCredentials' }
  },
  'user-invite': administered('user', async (world, begin) => {
    await begin()
    return invite(world)
  }),
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
    await ask(people, 'PATCH', `/entities/teams/${id}`, { description: 'Sales staff' })
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
  'company-close': async ({ people, begin }) => {
    const { id, name, accounts } = await companyOfOperator(people)
    await begin(people)
    await accounts.closeCompany(id, name)
    await accounts.openCompany(id)
    return { ...byOperator(id), also: ['company-open'] }
  },
  'company-open': async ({ people, begin }) => {
    const { id, name, accounts } = await companyOfOperator(people)
    await accounts.closeCompany(id, name)
    await begin(people)
    await accounts.openCompany(id)
    return byOperator(id)
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
    await people.auth.services.signIn.finishSingleSignOn({
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
  'application-revoke': async ({ people, begin }) => {
    const { id, token } = await people.person()
    const { clientId } = people
    await begin(people)
    await people.call(token, 'DELETE', `/users/me/applications/${clientId}`)
    return { actor: ['user', id], target: ['client', clientId, 'web'] }
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

  'cohort-create': administered('cohort', async ({ people, ask }, begin) => {
    await begin()
    return ask<Made>(people, 'POST', '/statistics/cohorts', cohortBody())
  }),
  'cohort-update': ofCohort('PATCH', { name: 'Renamed' }),
  'cohort-delete': ofCohort('DELETE'),
}
