import { spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createKeyRegister } from '../../src/features/encryption/key-register.ts'
import { createKeyRegisterStore } from '../../src/features/encryption/key-register-store.ts'
import {
  createKeyRotationStore,
  everySealedColumn,
} from '../../src/features/encryption/key-rotation-store.ts'
import { createBootstrapStore } from '../../src/features/identity/people/installation/bootstrap-store.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { newId } from '../../src/platform/ids.ts'
import { codeAt, fromBase32 } from '../support/authenticator.ts'
import { inFullLengthOnly } from '../support/long.ts'
import { createTestDatabase, type TestDatabase, urlOf } from '../support/postgres.ts'
import { type Service, startService } from '../support/running-service.ts'
import { openEverywhere, sealEverywhere } from '../support/sealed-rows.ts'

let database: TestDatabase
let dataDirectory: string

beforeEach(async () => {
  database = await createTestDatabase()
  dataDirectory = mkdtempSync(join(tmpdir(), 'millrace-keys-'))
})

afterEach(async () => {
  await database.close()
  rmSync(dataDirectory, { recursive: true, force: true })
})

const [old, present] = [randomBytes(32), randomBytes(32)]

function environment(...keys: readonly Buffer[]): Record<string, string> {
  return {
    DATABASE_URL: urlOf(database.owner),
    MILLRACE_DATA_DIR: dataDirectory,
    MILLRACE_ENCRYPTION_KEY: keys.map((key) => key.toString('base64')).join(','),
  }
}

test('L04: a key is replaced beside the running service, and taken out once nothing needs it', async () => {
  let service: Service | undefined
  const run = async (...keys: readonly Buffer[]): Promise<Service> => {
    await service?.stop()
    service = undefined
    service = await startService({ dataDirectory, env: environment(...keys) })
    return service
  }
  try {
    const authenticator = '/entities/users/me/authenticator'
    const first = await run(old)
    const { password } = first.admin
    const { secret } = await first.dataOf<{ secret: string }>('POST', authenticator, { password })

    await expect(run(present)).rejects.toThrow('the service ended with 78')
    const both = await run(present, old)
    expect(await both.operate('key', 'rotate')).toMatch(/user_authenticators +1 re-encrypted/)
    const last = await run(present)
    const code = codeAt(fromBase32(secret), Date.now())
    expect(await last.dataOf('POST', `${authenticator}/confirm`, { code })).toHaveProperty('recoveryCodes')
  } finally {
    await service?.stop()
  }
})

test('killed at any moment, it leaves secrets that open, and goes on when it is run again', async (context) => {
  inFullLengthOnly(context)
  const ids = { companyId: newId(), clientId: newId(), datasourceId: newId() }
  await createBootstrapStore(database.db).insertInstallation({ ...ids, adminEmail: 'ada@example.com' })
  const box = createSecretBox([present, old])
  const register = createKeyRegister({ relational: database })
  const readOwn = () => old
  await register.open({ given: [old], readOwn })
  await sealEverywhere(database, createSecretBox([old]), 1_500)
  await register.open({ given: [present, old], readOwn })
  const expected = await openEverywhere(database, box)
  const store = createKeyRotationStore(database.db)
  const countResealed = async (): Promise<number> => {
    const counts = await Promise.all(everySealedColumn.map((sealed) => store.countByKey(sealed)))
    return counts.reduce((sum, byKey) => sum + (byKey.get(box.keyIds[0] ?? '') ?? 0), 0)
  }
  const isNeeded = async () =>
    (await createKeyRegisterStore(database.db).listSealing()).includes(box.keyIds[1] ?? '')
  const rotate = () => {
    const main = new URL('../../src/main.ts', import.meta.url).pathname
    const env = { ...process.env, ...environment(present, old) }
    const child = spawn(process.execPath, [main, 'key', 'rotate'], { env, stdio: 'ignore' })
    return { child, ended: new Promise((resolve) => child.once('exit', resolve)) }
  }
  // A row that the first one cannot end without: it is killed in the midst of its work, however quick the machine is.
  const holder = await database.pool.connect()
  await holder.query('begin')
  await holder.query('select 1 from linked_accounts limit 1 for update')
  let kills = 0
  while (kills < 2 && (await isNeeded())) {
    const before = await countResealed()
    const { child, ended } = rotate()
    while (child.exitCode === null && (await countResealed()) === before) await sleep(10)
    await sleep(randomInt(20))
    child.kill('SIGKILL')
    await ended
    if (await isNeeded()) kills++
    if (kills === 1) await holder.query('rollback')
    expect(await countResealed()).toBeGreaterThan(before)
    expect(await openEverywhere(database, box)).toEqual(expected)
  }
  expect(kills).toBeGreaterThan(0)
  holder.release()
  expect(await rotate().ended).toBe(0)
  expect(await openEverywhere(database, createSecretBox([present]))).toEqual(expected)
})
