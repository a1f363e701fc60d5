/**
 * Records what a version writes, so that later ones are tested to open it: at each release, of its checkout with
 * `npm ci`. Run: `node packages/server/test/by-hand/record-version.ts --checkout DIRECTORY --name 0.1.0`.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { removeData, startService } from '../support/running-service.ts'
import { answersOf, fillForFixture, fixtureKey, versionsDirectory } from '../support/version-fixture.ts'

const { values } = parseArgs({ options: { checkout: { type: 'string' }, name: { type: 'string' } } })
const { checkout, name } = values
if (checkout === undefined || name === undefined) throw new Error('--checkout and --name are needed')
const folder = mkdtempSync(join(tmpdir(), 'millrace-version-'))
const env = { MILLRACE_ENCRYPTION_KEY: fixtureKey, MILLRACE_BACKUP_DIR: folder }
const service = await startService({ checkout: resolve(checkout), env })
try {
  await fillForFixture(service)
  const answers = await answersOf(service)
  await service.operate('backup', 'create')
  mkdirSync(versionsDirectory, { recursive: true })
  execFileSync('tar', ['-czf', join(versionsDirectory, `${name}.tar.gz`), '-C', folder, '.'])
  writeFileSync(join(versionsDirectory, `${name}.json`), `${JSON.stringify(answers, undefined, 2)}\n`)
} finally {
  await service.stop()
  removeData(service)
  rmSync(folder, { recursive: true, force: true })
}
