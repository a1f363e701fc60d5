import { getTableName } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressLists } from '../../src/features/identity/people/users/address-list-store.ts'
import { createMailQueue } from '../../src/features/mail/mail-store.ts'
import { offerSingleSignOn, type Person } from '../support/accounts.ts'
import { day, hour } from '../support/fake-time.ts'
import { openTenant, type ScimTenant } from '../support/provisioning.ts'
import { openSavedQueries, type SavedQueriesApp } from '../support/saved-queries.ts'
import { testBox } from '../support/service.ts'

/** What becomes of addresses of deleted users in every list that mails are sent by. */

let opened: SavedQueriesApp
let admin: Person
let companyId: string
let directory: ScimTenant

beforeAll(async () => {
  opened = await openSavedQueries()
  await opened.advanceTo('2027-03-01T06:00:00Z')
  admin = { ...opened.people.admin, token: await opened.app.signInAs(opened.people.admin.email) }
  companyId = opened.app.auth.companyId
  directory = await openTenant(opened.app.auth, companyId, 'directory@example.com')
})

afterAll(() => opened.close())

const rowsOf = async <T>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  (await opened.relational.pool.query(sql, [...values])).rows as T[]

async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) {
  opened.app.auth.cache.forget()
  const reply = await opened.app.auth.call(admin.token, method, `/v2${path}`, body as never)
  const { status: _, ...envelope } = reply.json()
  return { status: reply.statusCode, ...envelope }
}

let made = 0
const domainOf = () => `left${++made}.example`

interface Lists {
  readonly savedQuery: string
  readonly former: string
}

/** The next planned time of each schedule has come, and its run has ended. */
async function runTomorrow(): Promise<void> {
  const now = opened.app.time.clock.now()
  await opened.advanceTo(new Date(Math.floor(now / day) * day + day + 8 * hour).toISOString())
  admin = { ...admin, token: await opened.app.signInAs(admin.email) }
  await opened.work()
}

/** Puts an address into every list of the company, another one beside it. */
async function putIntoLists(email: string, former: string): Promise<Lists> {
  const [savedQuery, ofFormer] = [email, former].map((each) => [each, admin.email])
  const ids: string[] = []
  for (const recipients of [savedQuery, ofFormer]) {
    const { id } = await opened.save({ schedule: opened.daily() })
    await rowsOf(
      `update saved_queries set schedule = jsonb_set(schedule::jsonb, '{recipients}', $2)::json where id = $1`,
      [id, JSON.stringify(recipients)],
    )
    ids.push(id)
  }
  await rowsOf(
    `insert into report_settings (company_id, slug, id, cadence, recipients)
     values ($1, 'revenue', 'aaaaaaaaaaaaaaaaaaaaaaaa', 'monthly', $2)
     on conflict (company_id, slug) do update set recipients = excluded.recipients`,
    [companyId, JSON.stringify([admin.email, email])],
  )
  const enqueue = createMailQueue(testBox)
  for (const to of [email, admin.email])
    await enqueue(opened.relational.db, companyId, { to, subject: 'x', text: 'y' })
  // Another company has a user with the address, and mails on their way to it.
  await enqueue(opened.relational.db, opened.app.other.companyId, { to: email, subject: 'x', text: 'y' })
  return { savedQuery: ids[0] ?? '', former: ids[1] ?? '' }
}

/** The lists as they are: who is in each. */
async function readLists({ savedQuery, former }: Lists, email: string) {
  const recipientsOf = async (id: string) => (await opened.read(id)).schedule.recipients
  const settings = (await call('GET', '/statistics/reports/settings')).data
  return {
    savedQuery: await recipientsOf(savedQuery),
    former: await recipientsOf(former),
    report: settings.analyses.revenue.recipients,
    mails: (
      await rowsOf<{ company_id: string }>(`select company_id from outgoing_mails where recipient = $1`, [
        email,
      ])
    ).map(({ company_id }) => company_id),
  }
}

/** A user who had another address before. */
async function aUser(domain: string): Promise<{ id: string; email: string; former: string }> {
  const [email, former] = [`ada@${domain}`, `ada.byron@${domain}`]
  const id = String((await directory.scim('POST', '/Users', { userName: former })).body.id)
  await rowsOf('update users set email = $2 where id = $1', [id, email])
  return { id, email, former }
}

async function anInvited(domain: string): Promise<{ id: string; email: string; former: string }> {
  const roleId = await opened.app.roleIdOf('viewer')
  const email = `ada@${domain}`
  const [team] = await rowsOf<{ id: string }>('select id from teams where company_id = $1', [companyId])
  const wanted = { email, roleId, resourceGroupIds: [team?.id] }
  const { data, message } = await call('POST', '/entities/invitations', wanted)
  if (!data?.user?.id) throw new Error(message)
  return { id: data.user.id, email, former: email }
}

const ways: readonly [
  way: string,
  make: (domain: string) => Promise<{ id: string; email: string; former: string }>,
  leave: (id: string) => Promise<number>,
  action: string,
  /** That wait for the user. */
  mails: number,
][] = [
  [
    'deleting a user',
    aUser,
    async (id) => (await call('DELETE', `/entities/users/${id}`)).status,
    'user-delete',
    1,
  ],
  [
    'SCIM DELETE',
    aUser,
    async (id) => (await directory.scim('DELETE', `/Users/${id}`)).status,
    'user-deactivate',
    1,
  ],
  [
    'deleting an invitation',
    anInvited,
    async (id) => (await call('DELETE', `/entities/invitations/${id}`)).status,
    'invitation-delete',
    // With the invitation itself.
    2,
  ],
]

describe.each(ways)('%s (V09)', (_way, make, leave, action, mails) => {
  test('takes the address out of every list, says so, and it does not come back', async () => {
    const domain = domainOf()
    const user = await make(domain)
    const lists = await putIntoLists(user.email, user.former)
    const revision = (await opened.read(lists.savedQuery)).revision
    await opened.app.audit()
    expect([200, 204]).toContain(await leave(user.id))

    const left = { savedQuery: [admin.email], former: [admin.email], report: [admin.email] }
    const other = [opened.app.other.companyId]
    expect(await readLists(lists, user.email)).toEqual({ ...left, mails: other })
    expect((await opened.read(lists.savedQuery)).revision).toBe(revision + 1)
    const [entry] = (await opened.app.audit()).filter((each) => each.action === action)
    expect(entry).toMatchObject({
      target_id: user.id,
      details: {
        lists: {
          savedQueries: expect.arrayContaining([lists.savedQuery, lists.former]),
          savedQueryCount: 2,
          automaticReports: ['revenue'],
          mails,
        },
      },
    })

    // Neither the domain, once it is the company's, nor a new user brings it back.
    await offerSingleSignOn(opened.relational, companyId, domain)
    await runTomorrow()
    for (const id of Object.values(lists))
      expect((await opened.runs(id))[0]).toMatchObject({ state: 'delivered', recipients: [admin.email] })
    const again = await directory.scim('POST', '/Users', { userName: user.email, externalId: domain })
    expect(again.status).toBe(201)
    expect(await readLists(lists, user.email)).toEqual({ ...left, mails: other })
    await rowsOf('delete from saved_queries')
  })
})

test('a schedule that no receiver is left of is paused at its next time, and its owner hears of it', async () => {
  const { id, email } = await aUser(domainOf())
  const lists = await putIntoLists(email, email)
  await rowsOf(
    `update saved_queries set schedule = jsonb_set(schedule::jsonb, '{recipients}', $2)::json where id = $1`,
    [lists.savedQuery, JSON.stringify([email])],
  )
  expect((await call('DELETE', `/entities/users/${id}`)).status).toBe(200)
  await opened.app.takeMails()
  await runTomorrow()
  const paused = await opened.read(lists.savedQuery)
  expect(paused).toMatchObject({ pausedReason: 'no receiver of its results is left' })
  expect(paused).not.toHaveProperty('nextRunAt')
  expect((await opened.app.takeMails()).map(({ to }) => to)).toContain(opened.people.analyst.email)
})

/**
 * Columns that by their names or types could hold addresses, and do not, or are no list that mails are sent by: each
 * with what becomes of an address there.
 */
const otherColumns: Readonly<Record<string, string>> = {
  'users.email': 'is replaced when the user is deleted, and is what disables all mails before',
  'users.holds_email': 'says whether the address signs in',
  'former_addresses.email': 'goes with the user',
  'installation.admin_email': 'says what the first start made; nothing is sent by it',
  'refresh_tokens.address': 'of a network',
  'audit_entries.address': 'of a network',
  'audit_entries.details': 'is a record',
  'saved_query_runs.recipients': 'says whom results went to, for a year; nothing is sent by it',
  'scim_user_attributes.attributes': 'goes with the user',
  'saml_results.attributes': 'lives for minutes',
  'sso_configs.attribute_mapping': 'names of attributes',
  'saml_requests.authorization_request': 'lives for minutes',
}

/** Questions, definitions and results: JSON in which nothing names receivers. */
const contents: readonly string[] = [
  'saved_queries.queries',
  'saved_query_runs.results',
  'experiments.metrics',
  'experiments.attachments',
  'experiments.outcome',
  'cohorts.rule',
  'dashboards.tiles',
  'dashboards.filters',
  'dashboards.range',
  'saved_explorations.definition',
  'reports.comparison_windows',
  'reports.prompt_snapshot',
  'report_generations.sections',
  'report_generations.usage',
  'report_generations.failure',
  'report_evidence.content',
  'workflow_versions.definition',
  'workflow_versions.analysis',
  'workflow_versions.analysis_overrides',
  'workflow_versions.metadata',
  'workflow_publications.definition',
  'workflow_publications.templates',
  'workflow_integrations.parameters',
  'workflow_integrations.filters',
  'variable_profiles.parameters',
  'json_templates.definition',
  'json_templates.variables',
  'worker_datasources.source',
  'worker_datasources.content',
  'worker_datasources.fetched',
  'worker_datasources.schedule',
  'worker_datasources.fields',
  'datasource_versions.fields',
  'datasource_imports.fault',
  'person_erasures.removed',
  'statistics_exports.query',
  'statistics_exports.datasources',
]

test('every column that can hold an address is a list that is left, or says what becomes of it', async () => {
  const columns = (
    await rowsOf<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = current_schema()
         and (column_name ~ '(mail|recipient|receiver|address|contact|notif|subscri)' or data_type in ('json', 'jsonb'))
         and column_name not like '%_id' and data_type <> 'timestamp with time zone'`,
    )
  ).map(({ name }) => name)
  const lists = addressLists.map((column) => `${getTableName(column.table)}.${column.name}`)
  const known = [...lists, ...Object.keys(otherColumns), ...contents]
  expect(columns.filter((name) => !known.includes(name))).toEqual([])
  expect(known.filter((name) => !columns.includes(name))).toEqual([])
})

test('no column of the database has the address of a user who was deleted, but the records', async () => {
  const { id, email } = await aUser(domainOf())
  await putIntoLists(email, email)
  await rowsOf('delete from outgoing_mails where company_id <> $1', [companyId])
  await call('DELETE', `/entities/users/${id}`)
  const columns = await rowsOf<{ table_name: string; column_name: string }>(
    `select c.table_name, c.column_name from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
       and c.data_type in ('text', 'json', 'jsonb', 'ARRAY')`,
  )
  const having: string[] = []
  for (const { table_name, column_name } of columns) {
    const found = await rowsOf(
      `select 1 from "${table_name}" where position($1 in "${column_name}"::text) > 0 limit 1`,
      [email],
    )
    if (found.length > 0) having.push(`${table_name}.${column_name}`)
  }
  expect(having.toSorted()).toEqual(['audit_entries.target_name'])
})
