import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { configFrom } from './config.ts'
import { FaultyEnvironment, readEnvironment } from './env.ts'

function faultsOf(source: NodeJS.ProcessEnv): readonly string[] {
  try {
    readEnvironment(source)
  } catch (error) {
    if (error instanceof FaultyEnvironment) return error.faults
    throw error
  }
  return []
}

test('an empty environment gives the documented defaults', () => {
  const config = configFrom(readEnvironment({}))
  expect(config.http).toMatchObject({ host: '127.0.0.1', port: 8080, publicUrl: undefined })
  expect([...config.roles]).toEqual(['interface', 'collector', 'worker'])
  expect(config.dataDirectory.endsWith('/data')).toBe(true)
})

test('reports all faulty variables together and says what would be right', () => {
  const faults = faultsOf({
    MILLRACE_PORT: '99999',
    MILLRACE_ROLES: 'interface,cook',
    MILLRACE_PROT: '1',
    DATABASE_URL: 'mysql://x',
  })
  expect(faults).toHaveLength(4)
  expect(faults.join('\n')).toMatch(/MILLRACE_PORT must be a whole number from 0 to 65535 \(it is "99999"\)/)
  expect(faults.join('\n')).toMatch(/did you mean MILLRACE_PORT\?/)
})

test('never prints a faulty secret', () => {
  expect(faultsOf({ MILLRACE_ADMIN_PASSWORD: 'hunter2' }).join()).not.toContain('hunter2')
})

test('reads a secret from the file that NAME_FILE names, without its last line feed', () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-env-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'password')
  writeFileSync(file, 'a long enough secret\n')
  expect(readEnvironment({ MILLRACE_ADMIN_PASSWORD_FILE: file }).MILLRACE_ADMIN_PASSWORD).toBe(
    'a long enough secret',
  )
  expect(faultsOf({ MILLRACE_ADMIN_PASSWORD_FILE: '/nowhere' })[0]).toMatch(
    /MILLRACE_ADMIN_PASSWORD cannot be read/,
  )
})

test('refuses a collector whose events no process would load', () => {
  expect(faultsOf({ MILLRACE_ROLES: 'interface,collector' })[0]).toMatch(/collector without worker/)
  expect(faultsOf({ MILLRACE_ROLES: 'collector,worker' })).toEqual([])
})

test('refuses an address of a log that this version cannot use instead of ignoring it', () => {
  expect(faultsOf({ NATS_URL: 'nats://127.0.0.1' })[0]).toMatch(/NATS_URL is not supported/)
})

test.each(['999.1.1.1', '10.0.0.0/33', '::1/129', 'localhost', '10.0.0.1/', '1/8', '10.0.0.0/8,'])(
  'refuses %s as the address of a trusted proxy',
  (value) => {
    expect(faultsOf({ MILLRACE_TRUSTED_PROXIES: value })[0]).toMatch(/must be addresses or CIDR ranges/)
  },
)

test('takes addresses and ranges of trusted proxies', () => {
  const value = '127.0.0.1, 10.0.0.0/8,::1,fd00::/8'
  expect(readEnvironment({ MILLRACE_TRUSTED_PROXIES: value }).MILLRACE_TRUSTED_PROXIES).toHaveLength(4)
})

test.each([
  'https://user:secret@stats.example',
  'https://stats.example/?x=1',
  'https://stats.example/#x',
  'https://stats.example/"><script>',
  'https://stats.example/$(id)',
  "https://stats.example/';id",
])('refuses %s as public address: it stands in pages, mails and commands', (value) => {
  expect(faultsOf({ MILLRACE_PUBLIC_URL: value })[0]).toMatch(/must be a plain address/)
})

test('takes a public address with a path and without its last slash', () => {
  const value = 'https://stats.example:8443/millrace/'
  expect(readEnvironment({ MILLRACE_PUBLIC_URL: value }).MILLRACE_PUBLIC_URL).toBe(
    'https://stats.example:8443/millrace',
  )
})

test('takes a language model only whole, with an address that may be internal', () => {
  const url = 'http://10.0.0.5:11434/v1/'
  expect(
    configFrom(readEnvironment({ MILLRACE_LANGUAGE_MODEL_URL: url, MILLRACE_LANGUAGE_MODEL_NAME: 'small' })),
  ).toMatchObject({ languageModel: { url: 'http://10.0.0.5:11434/v1', name: 'small', key: undefined } })
  expect(configFrom(readEnvironment({})).languageModel).toBeUndefined()
  expect(faultsOf({ MILLRACE_LANGUAGE_MODEL_URL: url })).toEqual([
    expect.stringContaining('without MILLRACE_LANGUAGE_MODEL_NAME'),
  ])
  expect(faultsOf({ MILLRACE_LANGUAGE_MODEL_NAME: 'small', MILLRACE_LANGUAGE_MODEL_KEY: 'k' })).toHaveLength(
    2,
  )
  const secret = 'not a\ntoken'
  const faults = faultsOf({
    MILLRACE_LANGUAGE_MODEL_URL: 'https://user:pass@model.example/v1?key=1',
    MILLRACE_LANGUAGE_MODEL_NAME: 'small',
    MILLRACE_LANGUAGE_MODEL_KEY: secret,
  })
  expect(faults.join()).toMatch(/must be a plain address/)
  expect(faults.join()).not.toContain(secret)
})

test('takes a bucket for exports with its keys alone', () => {
  const given = { MILLRACE_EXPORT_S3_URL: 'https://s3.example/bucket/', MILLRACE_S3_ACCESS_KEY: 'key' }
  expect(faultsOf(given)).toEqual([expect.stringContaining('MILLRACE_S3_SECRET_KEY')])
  expect(configFrom(readEnvironment({ ...given, MILLRACE_S3_SECRET_KEY: 'secret' })).exportPlace).toEqual({
    url: 'https://s3.example/bucket',
    region: 'us-east-1',
    accessKey: 'key',
    secretKey: 'secret',
  })
  expect(configFrom(readEnvironment({})).exportPlace).toBeUndefined()
})
