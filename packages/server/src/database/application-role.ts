import pg from 'pg'
import type { Logger } from '../platform/logger.ts'
import { StartRefused } from '../platform/start-refused.ts'
import type { PostgresAddress } from '../platform/stores/relational.ts'
import { lockKeys, withLockedClient } from './relational-migrations.ts'

const rowPrivileges = ['select', 'insert', 'update', 'delete'] as const
const privileges = [...rowPrivileges, 'truncate', 'references', 'trigger'] as const
type Privilege = (typeof privileges)[number]

/** Tables of which the application may do less than read and write rows. */
const closed: Readonly<Record<string, readonly Privilege[]>> = {
  audit_entries: ['select', 'insert'],
  schema_migrations: ['select'],
}

/** Schemas with tables of the service: its own, and that of the rows of datasources. */
const schemas = ['public', 'datasource_rows'] as const

interface HeldPrivileges {
  /** With the schema, for those outside `public`. */
  readonly name: string
  readonly schema: string
  readonly table: string
  readonly held: readonly Privilege[]
}

async function listPrivileges(client: pg.Client, role: string): Promise<readonly HeldPrivileges[]> {
  const { rows } = await client.query<HeldPrivileges>(
    `select relation.relname as table, nspname as schema,
        case nspname when 'public' then '' else nspname || '.' end || relation.relname as name,
        array(
          select wanted from unnest($2::text[]) as wanted where has_table_privilege($1, relation.oid, wanted)
        ) as held
      from pg_class as relation join pg_namespace on pg_namespace.oid = relation.relnamespace
      where nspname = any($3) and relation.relkind in ('r', 'p')
      order by name`,
    [role, privileges, schemas],
  )
  return rows
}

const wantedOf = (table: string): readonly Privilege[] => closed[table] ?? rowPrivileges

/** Privileges that a role has beyond those it is to have, as `table: privilege`. */
function superfluous(tables: readonly HeldPrivileges[]): readonly string[] {
  return tables.flatMap(({ name, held }) =>
    held
      .filter((privilege) => !wantedOf(name).includes(privilege))
      .map((privilege) => `${name}: ${privilege}`),
  )
}

/** Schemas and sequences that the role may not use by a privilege of its own: granting one again writes. */
async function listClosed(client: pg.Client, role: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `with role as (select oid from pg_roles where rolname = $1)
      select 'schema ' || nspname as name from pg_namespace, role where nspname = any($2)
        and not exists (select from aclexplode(nspacl) where grantee = role.oid and privilege_type = 'USAGE')
      union all
      select 'sequences' from pg_class, role where relnamespace = 'public'::regnamespace and relkind = 'S'
        and (select count(*) from aclexplode(relacl)
          where grantee = role.oid and privilege_type in ('USAGE', 'SELECT')) < 2`,
    [role, schemas],
  )
  return rows.map(({ name }) => name)
}

async function openTables(client: pg.Client, role: string): Promise<void> {
  const to = pg.escapeIdentifier(role)
  const closedToRole = await listClosed(client, role)
  for (const schema of schemas.filter((name) => closedToRole.includes(`schema ${name}`))) {
    await client.query(`grant usage on schema ${schema} to ${to}`)
  }
  for (const { name, schema, table: unqualified, held } of await listPrivileges(client, role)) {
    const table = `${schema}.${pg.escapeIdentifier(unqualified)}`
    const wanted = wantedOf(name)
    const missing = wanted.filter((privilege) => !held.includes(privilege))
    const extra = held.filter((privilege) => !wanted.includes(privilege))
    if (missing.length > 0) await client.query(`grant ${missing.join(', ')} on ${table} to ${to}`)
    if (extra.length > 0) await client.query(`revoke ${extra.join(', ')} on ${table} from ${to}`)
  }
  if (closedToRole.includes('sequences')) {
    await client.query(`grant usage, select on all sequences in schema public to ${to}`)
  }
}

/**
 * Opens the owner's tables to the role that the service works as, for rows only, and the audit log for reading and
 * adding only. Done again at each start, so that a migration's tables and another role are opened too.
 * @throws StartRefused when the role could do more all the same: as a superuser, as a member of the owner, or
 *   because another role granted them
 */
export async function openToApplication(options: {
  readonly owner: PostgresAddress
  readonly role: string
  readonly logger: Logger
}): Promise<void> {
  const { owner, role, logger } = options
  await withLockedClient(owner, lockKeys.relational, logger, async (client) => {
    const { rows } = await client.query<{ owns: boolean }>(
      `select rolsuper or pg_has_role(oid, current_user, 'member') as owns from pg_roles where rolname = $1`,
      [role],
    )
    if (rows[0]?.owns !== false) {
      throw new StartRefused(
        'unsuitable',
        `The role "${role}" of DATABASE_URL is a superuser or a member of the role of DATABASE_OWNER_URL, and could change the audit log. Give DATABASE_URL a role of its own that may log in and nothing else.`,
      )
    }
    await client.query('begin')
    await openTables(client, role)
    await client.query('commit')
    const left = superfluous(await listPrivileges(client, role))
    if (left.length > 0) {
      throw new StartRefused(
        'unsuitable',
        `The role "${role}" of DATABASE_URL has privileges that the role of DATABASE_OWNER_URL cannot take back (${left.join(', ')}). Revoke them, also those of PUBLIC.`,
      )
    }
  })
}
