import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { prepareOperatorCommand } from '../../src/boot/commands/operator-commands.ts'
import { createOperatorServices } from '../../src/boot/commands/operator-services.ts'
import { createKeyRegister, type KeyRegister } from '../../src/features/encryption/key-register.ts'
import { createKeyRotationService } from '../../src/features/encryption/key-rotation-service.ts'
import {
  createKeyRotationStore,
  everySealedColumn,
  type SealedColumn,
  tableOf,
} from '../../src/features/encryption/key-rotation-store.ts'
import { createCertificateStore } from '../../src/features/identity/single-sign-on/certificates/certificate-store.ts'
import { createMailStore } from '../../src/features/mail/mail-store.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { openEverywhere, readSealed, sealEverywhere } from '../support/sealed-rows.ts'

let database: TestDatabase
let register: KeyRegister

beforeEach(async () => {
  database = await createTestDatabase()
  register = createKeyRegister({ relational: database })
})

afterEach(() => database.close())

const [old, present, lost] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const idOf = (key: Buffer): string => createSecretBox([key]).keyIds[0] ?? ''
const rotating = createSecretBox([present, old])

const start = (...keys: Buffer[]) =>
  register.open({
    given: keys,
    readOwn: () => {
      throw new Error('the file must not be read')
    },
  })

/** As the command line does it. */
async function command(...keys: Buffer[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  const prepared = prepareOperatorCommand(['key', 'rotate'], {
    out: say,
    err: say,
    readInput: async () => '',
  })
  if (!prepared || 'exitCode' in prepared) throw new Error('it is a command')
  const openBox = () => createSecretBox(keys)
  return { code: await prepared.run(createOperatorServices({ relational: database, openBox })), lines }
}

const columnOf = (table: string): SealedColumn => {
  const found = everySealedColumn.find((sealed) => tableOf(sealed) === table)
  if (!found) throw new Error(`${table} has no sealed column`)
  return found
}
const mails = columnOf('outgoing_mails')
const linked = columnOf('linked_accounts')

const write = ({ column, id }: SealedColumn, key: string, secret: Buffer) =>
  database.pool.query(
    `update ${tableOf({ column, id, contextOf: String })} set ${column.name} = $2 where ${id.name} = $1`,
    [key, secret],
  )

test('L04: a start without the old key is refused until everything is re-encrypted, and all of it opens then', async () => {
  await start(old)
  await sealEverywhere(database, createSecretBox([old]), 3)
  await start(present, old)
  await sealEverywhere(database, rotating)
  const before = await openEverywhere(database, rotating)
  await expect(start(present)).rejects.toThrow(`sealed under a key that is not given: ${idOf(old)}`)

  const { code, lines } = await command(present, old)
  expect(code).toBe(0)
  expect(lines).toEqual([
    `Re-encrypting under ${idOf(present)}.`,
    '  user_authenticators  1 re-encrypted, 1 already current',
    '  sso_certificates     3 re-encrypted, 1 already current',
    '  click_keys           1 re-encrypted, 1 already current',
    '  linked_accounts      3 re-encrypted, 1 already current',
    '  outgoing_mails       3 re-encrypted, 1 already current',
    '  person_erasures      3 re-encrypted, 1 already current',
    '  worker_datasources   3 re-encrypted, 1 already current',
    `Still needed, besides ${idOf(present)}: none.`,
    `No longer needed: ${idOf(old)}.`,
    'Remove them from MILLRACE_ENCRYPTION_KEY and restart each process.',
  ])
  for (const sealed of everySealedColumn) expect(await readSealed(database, sealed)).not.toEqual([])
  const box = await start(present)
  expect(await openEverywhere(database, box)).toEqual(before)
})

test('the features open what was re-encrypted', async () => {
  await start(old)
  await sealEverywhere(database, createSecretBox([old]))
  await start(present, old)
  expect((await command(present, old)).code).toBe(0)
  const box = await start(present)
  expect((await createMailStore(database.db, box).takeDue(60))?.read()).toMatchObject({ subject: 'Mail 0' })
  const certificates = createCertificateStore(database.db, box)
  const [certificate] = await certificates.listAll()
  expect(await certificates.openKey(certificate?.companyId ?? '', certificate?.id ?? '')).toBe(
    `key of ${certificate?.id}`,
  )
})

test('a second run has nothing to do, and one without older keys neither', async () => {
  await start(old)
  await sealEverywhere(database, createSecretBox([old]))
  await start(present, old)
  await command(present, old)
  const sealed = await readSealed(database, linked)
  const again = await command(present, old)
  expect(again.code).toBe(0)
  expect(again.lines).toContain('  linked_accounts      0 re-encrypted, 1 already current')
  expect((await command(present)).lines).toContain('No longer needed: none.')
  expect(await readSealed(database, linked)).toEqual(sealed)
})

test('a key that no service has been started with seals nothing', async () => {
  await start(old)
  await sealEverywhere(database, createSecretBox([old]))
  const { code, lines } = await command(present, old)
  expect(code).toBe(1)
  expect(lines.join()).toContain(`No service has been started with the key ${idOf(present)}`)
  await openEverywhere(database, createSecretBox([old]))
})

test('what cannot be opened stays as it is, is listed with the missing key, and the rest is re-encrypted', async () => {
  await start(lost)
  await sealEverywhere(database, createSecretBox([lost]), 2)
  await start(old, lost)
  await sealEverywhere(database, createSecretBox([old]), 3)
  await start(present, old, lost)
  const before = await openEverywhere(database, createSecretBox([present, old, lost]))
  const { code, lines } = await command(present, old)
  expect(code).toBe(1)
  expect(lines).toContain('  linked_accounts      3 re-encrypted, 0 already current')
  expect(lines).toContain(
    `Cannot be opened: 2 of linked_accounts, sealed under ${idOf(lost)}. Add that key after the present one.`,
  )
  expect(lines).toContain(`Still needed, besides ${idOf(present)}: ${idOf(lost)}.`)
  expect(lines).toContain(`No longer needed: ${idOf(old)}.`)
  expect(await openEverywhere(database, createSecretBox([present, lost]))).toEqual(before)
  expect(await command(present, lost)).toMatchObject({ code: 0 })
  expect(await openEverywhere(database, await start(present))).toEqual(before)
})

test('a secret that was moved to another row or changed is told by its row, and never sealed for it', async () => {
  await start(old)
  await sealEverywhere(database, createSecretBox([old]), 3)
  await start(present, old)
  const [first, second, third] = await readSealed(database, linked)
  if (!first || !second || !third) throw new Error('there are three')
  await write(linked, first.id, second.secret)
  await write(linked, third.id, Buffer.from('x'))
  const { code, lines } = await command(present, old)
  expect(code).toBe(1)
  expect(lines).toContain('  linked_accounts      1 re-encrypted, 0 already current')
  expect(lines).toContain(
    `Cannot be opened: 2 of linked_accounts, which were modified or belong to other rows: ${first.id}, ${third.id}.`,
  )
  expect(lines).toContain(`Still needed, besides ${idOf(present)}: ${idOf(old)}.`)
  const after = await readSealed(database, linked)
  expect(after[0]?.secret).toEqual(second.secret)
})

test('a secret that became another one after it was read stays', async () => {
  await start(old)
  await sealEverywhere(database, createSecretBox([old]), 2)
  const store = createKeyRotationStore(database.db)
  const read = await store.list(mails, [idOf(old)], '', 10)
  const newer = createSecretBox([old]).seal('newer', mails.contextOf(read[0]?.id ?? ''))
  await write(mails, read[0]?.id ?? '', newer)
  const reencrypted = read.map((each) => ({ ...each, reencrypted: Buffer.from('re-encrypted') }))
  expect(await store.replace(mails, reencrypted)).toBe(1)
  const [first, second] = await readSealed(database, mails)
  expect([first?.secret, second?.secret]).toEqual([newer, Buffer.from('re-encrypted')])
})

test('a locked row is not waited for, and is re-encrypted as its writer leaves it', async () => {
  await start(old)
  await sealEverywhere(database, createSecretBox([old]), 2)
  await start(present, old)
  const [row] = await readSealed(database, linked)
  const id = row?.id ?? ''
  const holder = await database.pool.connect()
  await holder.query('begin')
  await holder.query('update linked_accounts set sealed_target = $2 where id = $1', [
    id,
    createSecretBox([old]).seal('newer', linked.contextOf(id)),
  ])
  const hurried = createKeyRotationService({ relational: database, maxPasses: 1 })
  const report = await hurried.rotate(rotating)
  expect(report.tables).toContainEqual(
    expect.objectContaining({ table: 'linked_accounts', reencrypted: 1, waiting: 1 }),
  )
  expect(report.needed).toEqual([idOf(old)])
  const patient = createKeyRotationService({ relational: database }).rotate(rotating)
  await sleep(100)
  await holder.query('commit')
  holder.release()
  expect((await patient).notNeeded).toEqual([idOf(old)])
  expect((await openEverywhere(database, createSecretBox([present]))).get(`linked_accounts ${id}`)).toBe(
    'newer',
  )
})

test('several runs at once, beside a service that writes, lose nothing and leave nothing', async () => {
  await start(old)
  await sealEverywhere(database, createSecretBox([old]), 150)
  const service = await start(present, old)
  const expected = await openEverywhere(database, service)
  const ids = (await readSealed(database, linked)).map(({ id }) => id)
  const writers = new AbortController()
  let written = 0
  const writer = async (box: typeof service) => {
    while (!writers.signal.aborted) {
      const id = ids[written % ids.length] ?? ''
      const text = `version ${++written}`
      await write(linked, id, box.seal(text, linked.contextOf(id)))
      expected.set(`linked_accounts ${id}`, text)
      const waiting = await createMailStore(database.db, box).takeDue(60)
      if (waiting) {
        await createMailStore(database.db, box).markSent(waiting.id)
        expected.delete(`outgoing_mails ${waiting.id}`)
      }
    }
  }
  const writing = writer(service)
  const reports = await Promise.all(
    [7, 11, 13].map((batchSize) =>
      createKeyRotationService({ relational: database, batchSize }).rotate(rotating),
    ),
  )
  writers.abort()
  await writing
  expect(reports.map(({ notNeeded }) => notNeeded)).toEqual(Array(3).fill([idOf(old)]))
  for (const { tables } of reports)
    for (const table of tables) expect(table).toMatchObject({ missing: [], damaged: [], waiting: 0 })
  const reencrypted = (table: string) =>
    reports
      .flatMap(({ tables }) => tables.filter((each) => each.table === table))
      .reduce((sum, each) => sum + each.reencrypted, 0)
  // Nobody else wrote these: each was re-encrypted once, by one of the runs.
  expect([reencrypted('sso_certificates'), reencrypted('user_authenticators')]).toEqual([150, 1])
  expect(await openEverywhere(database, await start(present))).toEqual(expected)
})
