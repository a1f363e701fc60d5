import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { exitCodes, type StartRefused } from '../../start-refused.ts'
import { postgresAccount, type SystemAccount } from './account.ts'
import { postgresBinaries } from './binaries.ts'

const isRoot = process.getuid?.() === 0

let parent: string
let pristine: string
let account: SystemAccount | undefined
let installed: { root: string; version: string }
let spare: string

/** What npm leaves when it runs no install script: no links, and programs that nobody may execute. */
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'mr-bin-'))
  chmodSync(parent, 0o755)
  account = await postgresAccount(join(parent, 'none'))
  const { postgres } = await postgresBinaries(account, join(parent, 'unused'))
  const native = join(postgres, '../..')
  pristine = join(parent, 'pristine')
  cpSync(native, join(pristine, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) =>
      !lstatSync(path).isSymbolicLink() && !/\.a$|\/native\/(share|lib\/postgresql)(\/|$)/.test(path),
  })
  for (const name of readdirSync(join(pristine, 'native/bin')))
    chmodSync(join(pristine, 'native/bin', name), 0o644)
})

beforeEach(() => {
  const root = mkdtempSync(join(parent, 'installed-'))
  chmodSync(root, 0o755)
  cpSync(pristine, root, { recursive: true })
  installed = { root, version: '0.0.0' }
  spare = join(parent, 'spare')
})

/** For root they lie where the account cannot go, as below /root; for others where nothing can be written. */
function spoil(): void {
  if (isRoot) chmodSync(installed.root, 0o700)
  else chmodSync(join(installed.root, 'native/lib'), 0o555)
}

afterEach(() => {
  chmodSync(join(installed.root, 'native/lib'), 0o755)
  rmSync(installed.root, { recursive: true, force: true })
  rmSync(spare, { recursive: true, force: true })
})

afterAll(() => rmSync(parent, { recursive: true, force: true }))

test('makes the links and the execution bits that a missing install script leaves out', async () => {
  const binaries = await postgresBinaries(account, spare, installed)
  expect(binaries.version).toMatch(/^18\./)
  expect(binaries.postgres).toBe(join(installed.root, 'native/bin/postgres'))
  expect(statSync(binaries.initdb).mode & 0o111).toBe(0o111)
  const listed = JSON.parse(readFileSync(join(installed.root, 'native/pg-symlinks.json'), 'utf8')) as {
    target: string
  }[]
  for (const { target } of listed) expect(statSync(join(installed.root, target)).isFile()).toBe(true)
  expect(await postgresBinaries(account, spare, installed)).toEqual(binaries)
})

test('copies programs that cannot be used where they are, once', async () => {
  spoil()
  const binaries = await postgresBinaries(account, spare, installed)
  expect(binaries.postgres.startsWith(spare)).toBe(true)
  const made = statSync(binaries.postgres).mtimeMs
  expect(await postgresBinaries(account, spare, installed)).toEqual(binaries)
  expect(statSync(binaries.postgres).mtimeMs).toBe(made)
  expect(readdirSync(spare)).toHaveLength(1)

  // What a power failure can leave of a copy.
  truncateSync(binaries.postgres)
  expect(await postgresBinaries(account, spare, installed)).toEqual(binaries)
})

test('never runs a copy from a place that others may write to', async () => {
  spoil()
  mkdirSync(spare)
  chmodSync(spare, 0o777)
  await expect(postgresBinaries(account, spare, installed)).rejects.toThrow(/can be written to by others/)
})

test('says what this machine lacks when the programs cannot run', async () => {
  writeFileSync(join(installed.root, 'native/bin/postgres'), 'not a program')
  const error = await postgresBinaries(account, spare, installed).then(
    () => undefined,
    (reason) => reason as StartRefused,
  )
  expect(error?.exitCode).toBe(exitCodes.unsuitable)
  expect(error?.message).toMatch(/cannot run.*glibc or macOS.*DATABASE_URL/s)
})
