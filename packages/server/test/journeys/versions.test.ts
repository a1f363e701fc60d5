import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startService } from '../support/running-service.ts'
import {
  type Answers,
  answersOf,
  fixtureKey,
  recordedVersions,
  versionsDirectory,
} from '../support/version-fixture.ts'

const main = new URL('../../src/main.ts', import.meta.url).pathname

/** Recorded by test/by-hand/record-version.ts. */
test.for(recordedVersions())('what the version %s wrote is opened, with the same numbers', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-versions-'))
  const [backups, dataDirectory] = [join(folder, 'backups'), join(folder, 'data')]
  mkdirSync(backups)
  try {
    execFileSync('tar', ['-xzf', join(versionsDirectory, `${name}.tar.gz`), '-C', backups])
    execFileSync(process.execPath, [main, 'backup', 'restore', '--to', dataDirectory], {
      env: { ...process.env, MILLRACE_BACKUP_DIR: backups, MILLRACE_BACKUP_KEY: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const service = await startService({ dataDirectory, env: { MILLRACE_ENCRYPTION_KEY: fixtureKey } })
    try {
      await service.loaded()
      const recorded = JSON.parse(readFileSync(join(versionsDirectory, `${name}.json`), 'utf8')) as Answers
      expect(await answersOf(service, Object.keys(recorded.measures))).toEqual(recorded)
      expect(recorded.measures['events.count']).toBe(300)
    } finally {
      await service.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
