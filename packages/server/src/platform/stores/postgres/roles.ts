import type pg from 'pg'
import { applicationRole, databaseName, ownerRole } from './settings.ts'

/**
 * Creates roles and database where they are missing; every step may be interrupted and run again. The owner's tables
 * are open to the application for rows only: a migration can take back even that, as the audit log does.
 */
export async function ensureRoles(client: pg.Client): Promise<void> {
  const found = await client.query<{ rolname: string }>(
    'select rolname from pg_roles where rolname = any($1)',
    [[ownerRole, applicationRole]],
  )
  for (const role of [ownerRole, applicationRole]) {
    if (!found.rows.some((row) => row.rolname === role)) await client.query(`create role ${role} login`)
  }
}

export async function ensureDatabase(client: pg.Client): Promise<void> {
  const found = await client.query('select 1 from pg_database where datname = $1', [databaseName])
  if (found.rowCount === 0) await client.query(`create database ${databaseName} owner ${ownerRole}`)
}

/** Runs inside the database. */
export async function ensurePrivileges(client: pg.Client): Promise<void> {
  const found = await client.query(
    'select 1 from pg_default_acl where defaclrole = $1::regrole and defaclnamespace = 0 having count(*) = 3',
    [ownerRole],
  )
  if (found.rowCount !== 0) return
  const change = `alter default privileges for role ${ownerRole}`
  await client.query(`
    revoke all on database ${databaseName} from public;
    grant connect, temporary on database ${databaseName} to ${applicationRole};
    ${change} grant usage on schemas to ${applicationRole};
    ${change} grant select, insert, update, delete on tables to ${applicationRole};
    ${change} grant usage, select on sequences to ${applicationRole};
  `)
}
