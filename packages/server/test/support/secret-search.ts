import { expect } from 'vitest'
import type { Relational } from '../../src/platform/stores/relational.ts'

/** Every row of every table that the role may read, bytes in hexadecimal. */
export async function everyRow({ pool }: Pick<Relational, 'pool'>): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r'
       and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
       and has_table_privilege(oid, 'select')`,
  )
  const texts = await Promise.all(
    tables.map(({ name }) => pool.query<{ text: string }>(`select t::text as text from ${name} t`)),
  )
  return texts.flatMap(({ rows }) => rows.map(({ text }) => text)).join('\n')
}

/** How a secret could stand somewhere: as it is, encoded, or as the bytes that it encodes. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8')
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ]
  if (/^[A-Za-z0-9_-]{43}$/.test(secret)) forms.push(Buffer.from(secret, 'base64url').toString('hex'))
  return [...new Set(forms)]
}

/** None of the secrets stands in any of the places, in no form. */
export function expectNowhere(
  secrets: Readonly<Record<string, string>>,
  places: Readonly<Record<string, string>>,
): void {
  for (const [name, secret] of Object.entries(secrets)) {
    // What is shorter stands anywhere by chance, and what is empty stands everywhere.
    expect(secret.length, name).toBeGreaterThanOrEqual(10)
    for (const [place, text] of Object.entries(places))
      for (const form of formsOf(secret)) expect(text.includes(form), `${name} in ${place}`).toBe(false)
  }
}
