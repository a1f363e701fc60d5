import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parseEncryptionKey, readKeyFile } from './encryption-key.ts'

/** Removed with the test that makes it. */
function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'millrace-key-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

const run = promisify(execFile)

test('a key is made once, for its owner alone, and read again', () => {
  const path = directory()
  const key = readKeyFile(path, true)
  expect(key).toHaveLength(32)
  expect(readKeyFile(path, false).equals(key)).toBe(true)
  expect(statSync(join(path, 'encryption.key')).mode & 0o777).toBe(0o600)
  expect(readdirSync(path)).toEqual(['encryption.key'])
  expect(readKeyFile(directory(), true).equals(key)).toBe(false)
})

test('processes that make it at the same moment have the same one', async () => {
  const path = directory()
  const module = new URL('./encryption-key.ts', import.meta.url).href
  const at = Date.now() + 700
  const code = `const { readKeyFile } = await import(${JSON.stringify(module)})
    while (Date.now() < ${at});
    process.stdout.write(readKeyFile(${JSON.stringify(path)}, true).toString('hex'))`
  const all = await Promise.all(
    Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '-e', code])),
  )
  expect(new Set(all.map(({ stdout }) => stdout)).size).toBe(1)
  expect(all[0]?.stdout).toBe(
    Buffer.from(readFileSync(join(path, 'encryption.key'), 'utf8'), 'base64').toString('hex'),
  )
  expect(readdirSync(path)).toEqual(['encryption.key'])
})

test('what an interrupted start has left keeps no later one from making it', () => {
  const path = directory()
  writeFileSync(join(path, `encryption.key.${process.pid}.part`), 'x')
  expect(readKeyFile(path, true)).toHaveLength(32)
})

test.each([0o644, 0o640, 0o604, 0o660, 0o601])('U05: a file of mode %o is refused', (mode) => {
  const path = directory()
  readKeyFile(path, true)
  chmodSync(join(path, 'encryption.key'), mode)
  expect(() => readKeyFile(path, true)).toThrow(/can be read by others: it must have mode 0600/)
})

test.each([
  ['', 'empty'],
  ['\n', 'a line feed'],
  ['not a key', 'words'],
  [randomBytes(31).toString('base64'), 'too short'],
  [randomBytes(33).toString('base64'), 'too long'],
  [randomBytes(32).toString('hex'), 'hexadecimal'],
  [randomBytes(32).toString('base64').slice(0, 20), 'torn'],
  [Buffer.alloc(32).toString('base64'), 'zeros'],
])('U05: a file that holds no key is refused and stays as it is: %#', (text) => {
  const path = directory()
  writeFileSync(join(path, 'encryption.key'), text, { mode: 0o600 })
  expect(() => readKeyFile(path, true)).toThrow(/does not hold an encryption key: restore it/)
  expect(readFileSync(join(path, 'encryption.key'), 'utf8')).toBe(text)
})

test('U05: a missing file is not replaced where secrets are sealed already', () => {
  const path = directory()
  expect(() => readKeyFile(path, false)).toThrow(/is missing, .* restore the file from a backup/)
  expect(readdirSync(path)).toEqual([])
})

test('a directory in place of the file is refused', () => {
  const path = directory()
  mkdirSync(join(path, 'encryption.key'), { mode: 0o700 })
  expect(() => readKeyFile(path, true)).toThrow(/is no file/)
})

test('U05: keys that are no random bytes are not taken', () => {
  for (const bytes of [
    Buffer.alloc(32),
    Buffer.alloc(32, 'a'),
    Buffer.from('changemechangemechangemechangeme'),
  ])
    expect(parseEncryptionKey(bytes.toString('base64'))).toBeUndefined()
  for (let i = 0; i < 1000; i++)
    expect(parseEncryptionKey(randomBytes(32).toString('base64'))).toHaveLength(32)
})
