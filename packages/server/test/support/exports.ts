import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../../src/platform/ids.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'

/**
 * An export of one day that is done, with a file of three bytes.
 * @param directory where the service keeps exports
 * @returns its identifier
 */
export async function insertExport(
  { pool }: Pick<Relational, 'pool'>,
  directory: string,
  { companyId, userId }: { readonly companyId: string; readonly userId: string },
): Promise<string> {
  const id = newId()
  await pool.query(
    `insert into statistics_exports (id, company_id, requested_by, table_name, format, from_day, state, finished_at)
     values ($1, $2, $3, 'events', 'parquet', '2026-03-01', 'done', now())`,
    [id, companyId, userId],
  )
  await pool.query(
    `insert into statistics_export_files (export_id, part, rows, bytes, sha256, fingerprint)
     values ($1, '2026-03-01', 1, 3, 'abc', '')`,
    [id],
  )
  const folder = join(directory, companyId, id, 'dt=2026-03-01')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'events.parquet'), 'abc')
  return id
}
