import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { prepareOperatorCommand } from '../../src/boot/commands/operator-commands.ts'
import { createOperatorServices } from '../../src/boot/commands/operator-services.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { type Auth, createAuth } from '../support/auth.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let auth: Auth
let out: string[]
let err: string[]
let input = ''
const box = createSecretBox([randomBytes(32)])

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
})

beforeEach(() => {
  out = []
  err = []
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

const terminal = {
  out: (line: string) => void out.push(line),
  err: (line: string) => void err.push(line),
  readInput: async () => input,
}

async function run(...argv: string[]): Promise<number | undefined> {
  const prepared = prepareOperatorCommand(argv, terminal)
  if (!prepared || 'exitCode' in prepared) return prepared?.exitCode
  return prepared.run(createOperatorServices({ relational, openBox: () => box }))
}

test('user create makes a user who can sign in, and prints a generated password once', async () => {
  expect(await run('user', 'create', '--email', 'Ada@Example.com', '--role', 'Editor', '--json')).toBe(0)
  const printed = JSON.parse(out.join())
  expect(printed).toMatchObject({ email: 'ada@example.com', role: 'Editor', companyId: auth.companyId })
  expect((await auth.signIn('ada@example.com', printed.password)).statusCode).toBe(200)

  input = 'a password from a file\n'
  expect(await run('user', 'create', '--email', 'bob@example.com', '--password-stdin')).toBe(0)
  expect(out.join()).not.toContain('a password')
  expect((await auth.signIn('bob@example.com', 'a password from a file')).statusCode).toBe(200)
})

test('user create makes a service account where it is asked for', async () => {
  expect(await run('user', 'create', '--email', 'robot@example.com', '--service-account')).toBe(0)
  expect(out[0]).toContain('Made service account robot@example.com')
  expect(await run('user', 'create', '--email', 'human@example.com')).toBe(0)
  const { rows } = await relational.pool.query(
    `select email, service_account from users where email in ('robot@example.com', 'human@example.com') order by 1`,
  )
  expect(rows).toEqual([
    { email: 'human@example.com', service_account: false },
    { email: 'robot@example.com', service_account: true },
  ])
})

test('user password signs the user out everywhere', async () => {
  const user = await auth.addUser('carl@example.com')
  const first = (await auth.signIn('carl@example.com')).json()
  const second = (await auth.signIn('carl@example.com')).json()
  input = 'the next password'
  expect(await run('user', 'password', '--email', 'carl@example.com', '--password-stdin', '--json')).toBe(0)
  expect(JSON.parse(out.join())).toEqual({ id: user.id, email: 'carl@example.com', endedSessions: 2 })
  for (const { access_token, refresh_token } of [first, second]) {
    expect((await auth.get(access_token)).statusCode).toBe(401)
    expect((await auth.refresh(refresh_token)).statusCode).toBe(400)
  }
  expect((await auth.signIn('carl@example.com', 'the next password')).statusCode).toBe(200)
})

test('client create prints the id alone, ready for a script', async () => {
  expect(
    await run('client', 'create', '--name', 'console', '--redirect-uri', 'https://app.example.com/in'),
  ).toBe(0)
  expect(out).toHaveLength(1)
  const user = await auth.addUser('dora@example.com')
  const body = {
    grant_type: 'password',
    client_id: out[0],
    username: user.email,
    password: 'a field of 7 poppies',
  }
  expect((await auth.post(body)).statusCode).toBe(200)
})

test('client create makes a client whose refresh tokens rotate where it is asked for', async () => {
  await auth.addUser('fay@example.com')
  for (const [flags, rotates] of [
    [[], false],
    [['--rotate-refresh-tokens'], true],
  ] as const) {
    out = []
    expect(await run('client', 'create', '--name', 'desk', ...flags, '--json')).toBe(0)
    const client = JSON.parse(out.join())
    expect(client).toMatchObject({ name: 'desk', rotatesRefreshTokens: rotates })
    const who = { username: 'fay@example.com', password: 'a field of 7 poppies' }
    const pair = (await auth.post({ grant_type: 'password', client_id: client.id, ...who })).json()
    const next = (await auth.refresh(pair.refresh_token, client.id)).json()
    expect(next.refresh_token).toMatch(/^[\w-]{43}$/)
    expect(next.refresh_token !== pair.refresh_token).toBe(rotates)
  }
})

test('client create makes a client of pages of other origins, and client update changes them', async () => {
  const create = ['client', 'create', '--name', 'Pages', '--json']
  expect(await run(...create, '--origin', 'https://a.example', '--origin', 'http://localhost:5173')).toBe(0)
  const { id, origins } = JSON.parse(out.join())
  expect(origins).toEqual(['https://a.example', 'http://localhost:5173'])
  const change = async (...more: string[]) => {
    out = []
    expect(await run('client', 'update', '--client', id, '--json', ...more)).toBe(0)
    return JSON.parse(out.join()).origins
  }
  expect(await change('--add-origin', 'https://b.example', '--add-origin', 'https://a.example')).toEqual([
    'http://localhost:5173',
    'https://a.example',
    'https://b.example',
  ])
  const removed = ['--remove-origin', 'https://a.example', '--remove-origin', 'http://localhost:5173']
  expect(await change(...removed)).toEqual(['https://b.example'])
  expect(await change()).toEqual(['https://b.example'])
  out = []
  expect(await run('client', 'list')).toBe(0)
  expect(out).toContain(`${id}  Pages`)
  expect(out).toContain('  origins        https://b.example')
})

test('client create makes a native client where it is asked for', async () => {
  const argv = ['client', 'create', '--name', 'Phone', '--redirect-uri', 'com.example.app:/in', '--json']
  expect(await run(...argv, '--native')).toBe(0)
  expect(JSON.parse(out.join())).toMatchObject({ native: true, redirectUris: ['com.example.app:/in'] })
})

test('datasource create prints the id alone', async () => {
  expect(await run('datasource', 'create', '--name', ' Shop ')).toBe(0)
  expect(out).toHaveLength(1)
  const { rows } = await relational.pool.query(
    `select source.name, source.company_id, team.is_default from datasources as source
       join datasource_teams as link on link.datasource_id = source.id join teams as team on team.id = link.team_id
     where source.id = $1`,
    out,
  )
  expect(rows).toEqual([{ name: 'Shop', company_id: auth.companyId, is_default: true }])
})

test.each<[string, string[], string]>([
  ['an address that is none', ['user', 'create', '--email', 'ada'], 'email must be an e-mail address'],
  [
    'a role that is none',
    ['user', 'create', '--email', 'x@example.com', '--role', 'boss'],
    'admin, editor, viewer',
  ],
  [
    'a team that is none',
    ['user', 'create', '--email', 'x@example.com', '--team', 'Blue'],
    'there is no "Blue"',
  ],
  ['a company that is none', ['datasource', 'create', '--name', 'x', '--company', 'x'], '(Acme)'],
  [
    'an unknown user',
    ['user', 'password', '--email', 'nobody@example.com'],
    'There is no user nobody@example.com',
  ],
  [
    'a short password',
    ['user', 'create', '--email', 'x@example.com', '--password', 'short'],
    'at least 12 characters',
  ],
  [
    'a common one',
    ['user', 'create', '--email', 'x@example.com', '--password', 'Password123!'],
    'most common',
  ],
  ['an unknown grant', ['client', 'create', '--name', 'x', '--grant', 'implicit'], 'password, refresh_token'],
  [
    'a plain redirect',
    ['client', 'create', '--name', 'x', '--redirect-uri', 'http://a.example/'],
    'https://',
  ],
  [
    'a private-use scheme of no native client',
    ['client', 'create', '--name', 'x', '--redirect-uri', 'com.example.app:/in'],
    'other schemes with --native',
  ],
  [
    'a scheme of any application',
    ['client', 'create', '--name', 'x', '--native', '--redirect-uri', 'myapp:/in'],
    'com.example.app:/',
  ],
  [
    'an origin with a path',
    ['client', 'create', '--name', 'x', '--origin', 'https://a.example/'],
    'must be written as browsers send it, https://a.example;',
  ],
  ['a client that is none', ['client', 'update', '--client', 'x'], 'there is no "x"'],
  ['a fragment', ['client', 'create', '--name', 'x', '--redirect-uri', 'https://a.example/#'], 'fragment'],
  [
    'rotation without refreshing',
    ['client', 'create', '--name', 'x', '--grant', 'password', '--rotate-refresh-tokens'],
    'rotate-refresh-tokens needs the grant refresh_token',
  ],
  ['an empty name', ['client', 'create', '--name', ' '], '1 to 200 characters'],
])('refuses %s with code 1 and says what would be right', async (_name, argv, message) => {
  expect(await run(...argv)).toBe(1)
  expect(err.join()).toContain(message)
  expect(out).toEqual([])
  err = []
  expect(await run(...argv, '--json')).toBe(1)
  expect(JSON.parse(out.join()).message).toContain(message)
})

test('client update says which origins there are, and takes none twice', async () => {
  expect(
    await run('client', 'update', '--client', auth.clientId, '--remove-origin', 'https://a.example'),
  ).toBe(1)
  expect(err.at(-1)).toContain('must be an origin of the client (none); it is "https://a.example"')
  expect(await run('client', 'update', '--client', auth.clientId, '--add-origin', 'http://a.example')).toBe(1)
  expect(err.at(-1)).toContain('must begin with https://')
})

test.each([
  ['datasource', 'create', '--name', '\u001b[31mred\r\nanother line'],
  ['client', 'create', '--name', 'x\u0007'],
  ['user', 'create', '--email', 'x@example.com\u0000'],
])('refuses control characters: %s %s', async (...argv) => {
  expect(await run(...argv)).toBe(2)
  expect(err.join()).toContain('control characters')
})

test('refuses an address that a user has', async () => {
  await auth.addUser('eve@example.com')
  expect(await run('user', 'create', '--email', 'EVE@example.com')).toBe(1)
  expect(err.join()).toContain('There is a user eve@example.com already')
})

test.each<[string, string[], string]>([
  ['an unknown option', ['user', 'create', '--mail', 'x'], "'--mail'"],
  ['a missing option', ['user', 'create'], '--email is required'],
  ['an option given twice', ['client', 'create', '--name', 'a', '--name', 'b'], 'give it once'],
  ['an option without its value', ['client', 'create', '--name'], '--name'],
  ['a word too many', ['client', 'create', 'x', '--name', 'a'], "'x'"],
  ['an unknown verb', ['user', 'drop'], 'millrace user create'],
  ['two passwords', ['user', 'create', '--email', 'x@y.z', '--password', 'x', '--password-stdin'], 'exclude'],
])('answers %s with code 2 before a store is opened', async (_name, argv, message) => {
  expect(await run(...argv)).toBe(2)
  expect(err.join()).toContain(message)
})

test('help needs no store, and other words are left to others', async () => {
  expect(await run('user', 'create', '--help')).toBe(0)
  expect(out.join()).toContain('Usage: millrace user create')
  expect(await run('start')).toBeUndefined()
})

test('asks which company where there are several', async () => {
  const { companyId } = await relational.transaction((tx) => insertCompany(tx, 'Second'))
  expect(await run('user', 'create', '--email', 'two@example.com')).toBe(1)
  expect(err.join()).toContain(`${companyId} (Second)`)
  expect(
    await run('user', 'create', '--email', 'two@example.com', '--company', companyId.toUpperCase()),
  ).toBe(0)
})

test('domain verify makes a domain a company’s own, once, and says what is wrong with others', async () => {
  expect(await run('domain', 'verify', '--domain', 'Acme.Example', '--company', auth.companyId)).toBe(0)
  expect(out).toEqual([`acme.example is verified for ${auth.companyId}`])
  expect(
    await run('domain', 'verify', '--domain', 'acme.example', '--company', auth.companyId, '--json'),
  ).toBe(0)
  expect(JSON.parse(out.at(-1) ?? '')).toMatchObject({ domain: 'acme.example', companyId: auth.companyId })
  const { companyId } = await relational.transaction((tx) => insertCompany(tx, 'Rival'))
  expect(await run('domain', 'verify', '--domain', 'acme.example', '--company', companyId)).toBe(1)
  expect(err.at(-1)).toBe('millrace domain verify: This domain belongs to a company already')
  expect(await run('domain', 'verify', '--domain', 'gmail.com', '--company', companyId)).toBe(1)
  expect(err.at(-1)).toMatch(/public mail service/)
  expect(await run('domain', 'verify')).toBe(2)
  const trail = await auth.auditTrail()
  expect(trail.filter((entry) => entry === 'sso-domain-verify success')).toHaveLength(1)
})

test('key forget forgets what nothing is sealed under, and says what stays', async () => {
  await relational.pool.query('delete from encryption_keys')
  await relational.pool.query(`insert into encryption_keys (key_id) values ('0badcafe')`)
  expect(await run('key', 'forget', '--json')).toBe(0)
  expect(JSON.parse(out.join())).toEqual({ forgotten: ['0badcafe'], kept: [] })
  out = []
  expect(await run('key', 'forget')).toBe(0)
  expect(out).toEqual(['Forgotten: none.', 'Kept, because secrets are sealed under them: none.'])
})

test('sso optional lets passwords work again, is in the audit log once, and says what is wrong', async () => {
  const optional = (...more: string[]) => run('sso', 'optional', '--company', auth.companyId, ...more)
  expect(await optional()).toBe(1)
  expect(err.at(-1)).toBe('millrace sso optional: Your company has no single sign-on configuration')
  await relational.pool.query(
    `insert into sso_configs (company_id, version, metadata_xml, idp_entity_id, idp_sign_in_url, idp_certificates,
       attribute_mapping, provisioning, mandatory, proven_at)
     values ($1, $2, '<x/>', 'https://idp.example', 'https://idp.example/in', '{x}', '{}', 'invitation', true, now())`,
    [auth.companyId, 'a'.repeat(24)],
  )
  expect(await optional('--json')).toBe(0)
  expect(JSON.parse(out.at(-1) ?? '')).toEqual({
    companyId: auth.companyId,
    wasMandatory: true,
    mandatory: false,
  })
  const { rows } = await relational.pool.query(
    'select mandatory, proven_at is not null as proven from sso_configs',
  )
  expect(rows).toEqual([{ mandatory: false, proven: true }])
  expect(await optional()).toBe(0)
  expect(out.at(-1)).toContain('was not required')
  const trail = await auth.auditTrail()
  expect(trail.filter((entry) => entry === 'sso-config-update success')).toHaveLength(1)
})
