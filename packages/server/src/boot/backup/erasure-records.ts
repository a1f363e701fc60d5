import { existsSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { ErasureRecord } from '../../features/events/loading/removals/erasure.ts'
import { unlessMissing } from './backup-files.ts'

/** Beside the backups. */
export const erasuresName = 'erasures.ndjson'

const fileOf = (directory: string): string => join(directory, erasuresName)

/** Where there are backups: nothing is to be repeated without one. */
export async function recordErasure(directory: string, record: ErasureRecord): Promise<void> {
  if (existsSync(directory))
    // A line that a crash has cut does not take the next one with it.
    await appendFile(fileOf(directory), `\n${JSON.stringify(record)}\n`, { mode: 0o600, flush: true })
}

/** The lines of a file; none where there is no file. */
async function linesOf(path: string): Promise<string[]> {
  const text = await unlessMissing(readFile(path, 'utf8'), '')
  return text.split('\n').filter((line) => line !== '')
}

/** Adds what another list has, such as that of another machine. */
export async function addErasures(directory: string, from: string): Promise<void> {
  const known = new Set(await linesOf(fileOf(directory)))
  const added = (await linesOf(from)).filter((line) => !known.has(line))
  if (added.length > 0)
    await appendFile(fileOf(directory), `\n${added.join('\n')}\n`, { mode: 0o600, flush: true })
}

/** Those that were finished at this time or later; a line that a crash has cut is none. */
async function listErasuresSince(directory: string, since: string): Promise<ErasureRecord[]> {
  return (await linesOf(fileOf(directory))).flatMap((line) => {
    try {
      const record = JSON.parse(line) as ErasureRecord
      return record.finishedAt >= since ? [record] : []
    } catch {
      return []
    }
  })
}

/** Asks in a restored database for the erasures that came after the backup. @returns how many */
export async function repeatErasures(
  client: Pick<pg.Client, 'query'>,
  directory: string,
  since: string,
): Promise<number> {
  let repeated = 0
  for (const record of await listErasuresSince(directory, since)) {
    const { rowCount } = await client.query(
      `insert into person_erasures (id, company_id, requested_by, refuse_until, digests)
       select $1, id, $3, $4, $5 from companies where id = $2 on conflict (id) do nothing`,
      [record.id, record.companyId, record.requestedBy, record.refuseUntil, record.digests],
    )
    repeated += rowCount ?? 0
  }
  return repeated
}
