import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrateRelational } from '../../src/database/migrate.ts'
import { removeOldEntries } from '../../src/features/audit/audit-retention.ts'
import { createAuditStore, recordAudit } from '../../src/features/audit/audit-store.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { openRelational, type Relational } from '../../src/platform/stores/relational.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

/** The log as the service's own role sees it, and as the tables' owner where one role does everything. */

let database: TestDatabase
let companyId: string

beforeAll(async () => {
  database = await createTestDatabase()
  companyId = (await database.transaction((tx) => insertCompany(tx, 'Acme'))).companyId
  await recordAudit(database.db, { companyId, action: 'sign-in', actor: { kind: 'anonymous' } })
})

afterAll(() => database.close())

async function asOwner<T>(
  address: TestDatabase['owner'],
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const { socketDirectory: host, user, database: name } = address
  const client = new pg.Client({ host, user, database: name })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const changes = [
  `update audit_entries set actor_name = 'nobody'`,
  `update audit_entries set at = now() - interval '1 year'`,
  'delete from audit_entries',
  'truncate audit_entries',
  'truncate companies cascade',
  `insert into audit_entries select * from audit_entries on conflict (id) do update set outcome = 'failure'`,
  `merge into audit_entries a using companies c on a.company_id = c.id when matched then delete`,
  `merge into audit_entries a using companies c on a.company_id = c.id when matched then update set outcome = 'failure'`,
  `with gone as (delete from audit_entries returning 1) select count(*) from gone`,
  'select * from audit_entries for update',
]

const unmaking = [
  'alter table audit_entries disable trigger all',
  'alter table audit_entries disable trigger audit_entries_kept',
  'drop trigger audit_entries_kept on audit_entries',
  'drop table audit_entries',
  'drop table audit_entries cascade',
  'alter table audit_entries rename to other',
  'alter table audit_entries add column x text',
  'alter table companies drop constraint companies_audit_retention_days_check',
  `create or replace function refuse_audit_change() returns trigger language plpgsql as 'begin return new; end'`,
  `create or replace function remove_old_audit_entries(most integer) returns integer language sql as 'select 1'`,
  'drop function refuse_audit_change() cascade',
  'alter function refuse_audit_change() rename to x',
  `create rule r as on insert to audit_entries do instead nothing`,
  `create trigger t before insert on audit_entries for each row execute function refuse_audit_change()`,
  `set session_replication_role = 'replica'`,
  'set role millrace_owner',
  'create table public.companies2 (id text)',
  'create schema other',
]

describe('the role of the service', () => {
  test.each(changes)('may not: %s', async (statement) => {
    await expect(database.pool.query(statement)).rejects.toThrow(/permission denied|append-only/)
  })

  test.each(unmaking)('cannot take the guard away: %s', async (statement) => {
    await expect(database.pool.query(statement)).rejects.toThrow(
      /permission denied|must be owner|must be member/,
    )
  })

  test('cannot give itself a right: that changes nothing', async () => {
    await database.pool.query('grant update, delete, truncate, trigger on audit_entries to millrace')
    const { rows } = await database.pool.query(
      `select right_ from unnest(array['update', 'delete', 'truncate', 'trigger', 'references', 'maintain']) right_
       where has_table_privilege('audit_entries', right_)`,
    )
    expect(rows).toEqual([])
  })

  test('still adds and reads', async () => {
    await recordAudit(database.db, { companyId, action: 'sign-out', actor: { kind: 'anonymous' } })
    const store = createAuditStore(database.db)
    expect(
      (await store.list(companyId, {}, { page: 1, perPage: 10 })).rows.map(({ action }) => action),
    ).toEqual(['sign-out', 'sign-in'])
  })

  test.each([29, 0, -1, 3651, 2_147_483_647])('cannot set the retention to %i days', async (days) => {
    const set = database.pool.query('update companies set audit_retention_days = $1', [days])
    await expect(set).rejects.toThrow(/companies_audit_retention_days_check/)
  })

  test('removes nothing early, even with a table of its own in front of the companies', async () => {
    const client = await database.pool.connect()
    try {
      await client.query('create temporary table companies (id text, audit_retention_days integer)')
      await client.query('insert into pg_temp.companies values ($1, -1000)', [companyId])
      expect((await client.query('select remove_old_audit_entries(100)')).rows).toEqual([
        { remove_old_audit_entries: 0 },
      ])
    } finally {
      await client.query('drop table if exists pg_temp.companies')
      client.release()
    }
  })
})

describe('one role for everything', () => {
  let alone: TestDatabase
  let owner: Relational

  beforeAll(async () => {
    alone = await createTestDatabase({ migrated: false })
    await migrateRelational({ address: alone.owner, logger: silentLogger })
    owner = openRelational({ address: alone.owner, logger: silentLogger })
    const made = await owner.transaction((tx) => insertCompany(tx, 'Acme'))
    await recordAudit(owner.db, {
      companyId: made.companyId,
      action: 'sign-in',
      actor: { kind: 'anonymous' },
    })
  })

  afterAll(async () => {
    await owner.close()
    await alone.close()
  })

  test.each(changes.filter((each) => !each.startsWith('select')))(
    'the triggers refuse: %s',
    async (statement) => {
      await expect(owner.pool.query(statement)).rejects.toThrow(/append-only|violates foreign key/)
      expect((await owner.pool.query('select 1 from audit_entries')).rowCount).toBe(1)
    },
  )

  test('the triggers look up no table that a session has put in front', async () => {
    const client = await owner.pool.connect()
    try {
      await client.query('create temporary table companies (id text, audit_retention_days integer)')
      await client.query('insert into pg_temp.companies select id, -1000 from public.companies')
      await expect(client.query('delete from audit_entries')).rejects.toThrow(/append-only/)
    } finally {
      await client.query('drop table pg_temp.companies')
      client.release()
    }
  })
})

describe('retention', () => {
  let second: string

  beforeAll(async () => {
    second = (await database.transaction((tx) => insertCompany(tx, 'Second'))).companyId
    await database.pool.query('update companies set audit_retention_days = 30 where id = $1', [second])
  })

  const fill = (company: string | null, count: number, days: number) =>
    asOwner(database.owner, (client) =>
      client.query(
        `insert into audit_entries (id, company_id, at, category, action, actor_kind, outcome)
         select substr(md5(random()::text || n), 1, 24), $1, now() - make_interval(days => $3, secs => n % 3600 + 5), 'authentication', 'sign-in', 'user', 'success'
         from generate_series(1, $2) n`,
        [company, count, days],
      ),
    )

  const left = async (company: string | null): Promise<number> =>
    (
      await database.pool.query('select 1 from audit_entries where company_id is not distinct from $1', [
        company,
      ])
    ).rowCount ?? 0

  beforeEach(async () => {
    await removeOldEntries({ store: createAuditStore(database.db), log: silentLogger })
  })

  test('each company’s entries go when its own time has passed, those of nobody after 90 days', async () => {
    const before = await left(companyId)
    await fill(companyId, 3, 89)
    await fill(companyId, 4, 90)
    await fill(second, 3, 29)
    await fill(second, 5, 30)
    await fill(null, 2, 89)
    await fill(null, 6, 90)
    const remove = () =>
      removeOldEntries({ store: createAuditStore(database.db), log: silentLogger, batch: 4 })
    expect(await remove()).toBe(15)
    expect([await left(companyId), await left(second), await left(null)]).toEqual([before + 3, 3, 2])
    expect(await remove()).toBe(0)
  })

  test('one statement takes no more than it was told', async () => {
    await fill(second, 10, 40)
    await fill(companyId, 10, 100)
    const store = createAuditStore(database.db)
    expect([await store.removeOld(7), await store.removeOld(7), await store.removeOld(7)]).toEqual([7, 7, 6])
  })

  test('two workers at once take each entry away once', async () => {
    await fill(second, 200, 40)
    const remove = () =>
      removeOldEntries({ store: createAuditStore(database.db), log: silentLogger, batch: 20 })
    const removed = await Promise.all([remove(), remove(), remove()])
    expect(removed.reduce((sum, each) => sum + each, 0)).toBe(200)
  })

  test('100,000 entries go in two batches', async () => {
    await fill(second, 100_000, 40)
    await asOwner(database.owner, (client) => client.query('analyze audit_entries'))
    const parts = { store: createAuditStore(database.db), log: silentLogger, batch: 50_000 }
    expect(await removeOldEntries(parts)).toBe(100_000)
  })

  test('it ends between two batches when it is told to stop', async () => {
    await fill(second, 50, 40)
    const store = createAuditStore(database.db)
    const stopping = new AbortController()
    const removeOld = async (batch: number) => {
      stopping.abort()
      return await store.removeOld(batch)
    }
    expect(
      await removeOldEntries({ store: { removeOld }, log: silentLogger, batch: 20 }, stopping.signal),
    ).toBe(20)
  })
})
