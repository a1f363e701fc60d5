import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../ids.ts'
import { createDirectoryOutbox } from './outbox.ts'

/** Removed with the test that makes it. */
async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-outbox-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

test('a mail becomes one whole file that only its owner can read', async () => {
  const directory = await makeDirectory()
  const outbox = await createDirectoryOutbox({ directory, from: 'Millrace <noreply@shop.example>', newId })
  await outbox.send({ to: 'anna@shop.example', subject: 'Grüße', text: 'Hello Anna\n' })
  outbox.close()
  const files = await readdir(directory)
  expect(files).toHaveLength(1)
  const file = join(directory, files[0] ?? '')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const text = await readFile(file, 'utf8')
  expect(text).toMatch(/^From: Millrace <noreply@shop.example>$/m)
  expect(text).toMatch(/^To: anna@shop.example$/m)
  expect(text).toContain('Hello Anna')
})

test('a subject with a line break cannot add a header', async () => {
  const directory = await makeDirectory()
  const outbox = await createDirectoryOutbox({ directory, from: 'noreply@shop.example', newId })
  await outbox.send({ to: 'anna@shop.example', subject: 'Hi\r\nBcc: eve@evil.example', text: 'x' })
  outbox.close()
  const [file] = await readdir(directory)
  expect(await readFile(join(directory, file ?? ''), 'utf8')).not.toMatch(/^Bcc:/m)
})
