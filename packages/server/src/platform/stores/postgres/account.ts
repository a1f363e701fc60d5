import { execFile, execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { StartRefused } from '../../start-refused.ts'

/** A user of the operating system under whom PostgreSQL runs. */
export interface SystemAccount {
  readonly uid: number
  readonly gid: number
  /** For messages; the number where the system has no name for it. */
  readonly name: string
}

/** The account that root makes for PostgreSQL, which refuses to run as root. */
const accountName = 'millrace'
const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

async function run(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { env: environment })
  return stdout.trim()
}

async function lookUp(name: string): Promise<SystemAccount | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    return { uid: Number(uid), gid: Number(gid), name }
  } catch {
    return undefined
  }
}

function nameOf(uid: number): string {
  try {
    return execFileSync('id', ['-nu', String(uid)], {
      encoding: 'utf8',
      env: environment,
      stdio: 'pipe',
    }).trim()
  } catch {
    return String(uid)
  }
}

const options = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']

/** Two starts at once may both create it, and the password file may be locked: the later one finds it. */
async function create(): Promise<SystemAccount> {
  let reason = ''
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      await run('useradd', [...options, '--shell', '/usr/sbin/nologin', '--comment', 'Millrace', accountName])
    } catch (error) {
      const { stderr, message } = error as { stderr?: string; message: string }
      reason = stderr?.trim() || message
    }
    const account = await lookUp(accountName)
    if (account !== undefined) return account
    await sleep(100)
  }
  throw new StartRefused(
    'unsuitable',
    `PostgreSQL does not run as root, and a user for it cannot be created: ${reason}\n` +
      `Create one with "useradd --system ${accountName}", or start the service as a user other than root, ` +
      'or name a PostgreSQL of your own in DATABASE_URL.',
  )
}

/**
 * Whom PostgreSQL runs as: ourselves, or when we are root, the owner of its directory, else a system user that is
 * created where it does not exist.
 * @returns undefined for ourselves
 * @throws {StartRefused} the directory belongs to a user that this process cannot become, or no user can be created
 */
export async function postgresAccount(directory: string): Promise<SystemAccount | undefined> {
  const self = process.getuid?.() ?? -1
  const owner = statSync(directory, { throwIfNoEntry: false })
  if (self !== 0) {
    if (owner === undefined || owner.uid === self) return undefined
    throw new StartRefused(
      'unsuitable',
      `${directory} belongs to user ${nameOf(owner.uid)}, and the service runs as ${nameOf(self)}.\n` +
        'Start it as the same user as before (or as root), or give the whole data directory to this user with chown.',
    )
  }
  if (owner !== undefined && owner.uid !== 0) {
    const { uid, gid } = owner
    return {
      uid,
      gid,
      // Asked for by messages alone.
      get name() {
        return nameOf(uid)
      },
    }
  }
  const account = (await lookUp(accountName)) ?? (await create())
  if (account.uid === 0) {
    throw new StartRefused(
      'unsuitable',
      `The user ${accountName} is root under another name; PostgreSQL does not run as root.`,
    )
  }
  return account
}
