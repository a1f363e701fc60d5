import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Logger } from '../../logger.ts'
import { dyingWithParent } from '../../processes/parent-death.ts'
import { StartRefused } from '../../start-refused.ts'
import type { SystemAccount } from './account.ts'
import type { PostgresBinaries } from './binaries.ts'
import { clearLeftovers } from './leftovers.ts'
import { initArguments, settingArguments } from './settings.ts'

/** The directory as a process of another account finds it: as descriptor 3, because paths to it may be closed to it. */
export const directoryDescriptor = '/proc/self/fd/3'

const whatNow =
  'Nothing was deleted. Restore the directory from a backup; or, to begin with empty accounts, move it away ' +
  '(do not delete it: it may still be repaired) and start again.'

const essential = [
  'global/pg_control',
  'base',
  'pg_wal',
  'pg_xact',
  'postgresql.conf',
  'pg_hba.conf',
] as const

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/**
 * Whether a directory holds a cluster of this version.
 * @returns false when there is none or it is empty
 * @throws {StartRefused} it holds something else: nothing is ever initialised over it
 */
export function holdsCluster(directory: string, version: string): boolean {
  if (!exists(directory)) return false
  const entries = readdirSync(directory)
  if (entries.length === 0) return false
  if (!entries.includes('PG_VERSION')) {
    throw new StartRefused(
      'damaged',
      `${directory} is damaged: it holds ${entries.length} entries but no PG_VERSION.\n${whatNow}`,
    )
  }
  const found = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim()
  const major = version.split('.', 1)[0] ?? ''
  if (!/^\d+$/.test(found)) {
    throw new StartRefused('damaged', `${directory} is damaged: PG_VERSION is unreadable.\n${whatNow}`)
  }
  if (found !== major) {
    throw new StartRefused(
      'damaged',
      `${directory} was made by PostgreSQL ${found}, and this is PostgreSQL ${major}.\nNothing was changed. ` +
        `Go back to the release that brought PostgreSQL ${found}, or dump with it and restore with this one.`,
    )
  }
  const missing = essential.filter((name) => !exists(join(directory, name)))
  if (missing.length > 0) {
    throw new StartRefused('damaged', `${directory} is damaged: ${missing.join(', ')} missing.\n${whatNow}`)
  }
  // A restored copy is often open to others, which PostgreSQL refuses.
  if ((statSync(directory).mode & 0o077) !== 0) chmodSync(directory, 0o700)
  return true
}

/** What PostgreSQL itself says when the files are to blame, not the machine. */
const damage =
  /PANIC|checkpoint record|pg_control|control file|invalid (page|data|primary|magic)|incompatible|checksum|could not (open|read|access) file|unexpected pageaddr|is not a database cluster/i

/** Explains a PostgreSQL that does not come up with an existing directory. */
export function startFailed(directory: string, output: readonly string[], cause: Error): StartRefused {
  const lines = output.slice(-12).map((line) => `  ${line.replaceAll(directoryDescriptor, directory)}`)
  const damaged = output.some((line) => damage.test(line))
  return new StartRefused(
    damaged ? 'damaged' : 'unsuitable',
    lines.length === 0
      ? `PostgreSQL does not start in ${directory}: ${cause.message}`
      : `PostgreSQL does not start in ${directory}. It says:\n${lines.join('\n')}\n${damaged ? whatNow : 'Nothing was deleted.'}`,
    cause,
  )
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Runs initdb; @returns everything it wrote, when it failed */
async function runInitdb(
  binaries: PostgresBinaries,
  account: SystemAccount | undefined,
  directory: string,
  args: readonly string[],
): Promise<string | undefined> {
  const descriptor = openSync(directory, 'r')
  try {
    const place = account === undefined ? directory : directoryDescriptor
    const all = ['-D', place, ...initArguments, ...settingArguments(), ...args]
    const bound = await dyingWithParent(binaries.initdb, all, 'SIGKILL')
    const child = spawn(bound.command, bound.args, {
      cwd: '/',
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', 'pipe', descriptor],
      detached: true,
      ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
    })
    let output = ''
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-8192)
    }
    child.stdout?.on('data', take)
    child.stderr?.on('data', take)
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('close', (code, signal) => resolve(code === 0 ? undefined : `${output}(${signal ?? code})`))
    })
  } finally {
    closeSync(descriptor)
  }
}

const whenNameless =
  'PostgreSQL needs a user that has a name: run the service as one of /etc/passwd, or as root, or name a PostgreSQL ' +
  'of your own in DATABASE_URL.'

const draftPrefix = (directory: string): string => `${basename(directory)}.new-`

/** Removes drafts that an interrupted first start left; none of them was ever served from. */
export async function removeDrafts(directory: string, logger: Logger): Promise<void> {
  const parent = dirname(directory)
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(draftPrefix(directory))) continue
    try {
      await clearLeftovers(join(parent, name), logger)
      rmSync(join(parent, name), { recursive: true, force: true, maxRetries: 5 })
    } catch (error) {
      logger.warn({ err: error }, `the unfinished ${name} cannot be removed`)
    }
  }
}

/**
 * Makes a cluster where there is none. It is made beside its place and moved there when it is whole and on disk, so
 * that an interruption at any instant leaves either nothing or a cluster.
 * @param args more for initdb
 * @throws {StartRefused} initdb failed
 */
export async function initialise(
  directory: string,
  binaries: PostgresBinaries,
  account: SystemAccount | undefined,
  args: readonly string[] = [],
): Promise<void> {
  const parent = dirname(directory)
  const draft = mkdtempSync(join(parent, draftPrefix(directory)))
  if (account !== undefined) chownSync(draft, account.uid, account.gid)
  const failure = await runInitdb(binaries, account, draft, args)
  if (failure !== undefined) {
    rmSync(draft, { recursive: true, force: true, maxRetries: 5 })
    const nameless = /could not look up effective user ID/.test(failure)
    throw new StartRefused(
      'unsuitable',
      `PostgreSQL's directory cannot be made in ${parent}:\n${failure}${nameless ? `\n${whenNameless}` : ''}`,
    )
  }
  renameSync(draft, directory)
  syncDirectory(parent)
}
