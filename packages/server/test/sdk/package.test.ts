import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const execute = promisify(execFile)
const root = new URL('../../../../', import.meta.url).pathname
const compiler = join(root, 'node_modules/typescript/bin/tsc')

/** A project that knows the packed form alone. */
const project = mkdtempSync(join(tmpdir(), 'millrace-sdk-'))
const write = (name: string, text: string) => writeFileSync(join(project, name), text)

let database: TestDatabase
let auth: Auth
let baseUrl: string

beforeAll(async () => {
  database = await createTestDatabase()
  auth = await createAuth(database)
  baseUrl = await auth.app.listen({ port: 0, host: '127.0.0.1' })
  await auth.addUser('ada@example.com', goodPassword, 'admin')
  await execute(process.execPath, ['scripts/build-sdk.ts'], { cwd: root })
  const dist = join(root, 'packages/sdk/dist')
  const { stdout } = await execute('npm', ['pack', '--silent', '--pack-destination', project, dist])
  write('package.json', JSON.stringify({ name: 'shop', private: true, type: 'module' }))
  await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${stdout.trim()}`], {
    cwd: project,
  })
})
afterAll(async () => {
  await auth.app.close()
  await database.close()
  rmSync(project, { recursive: true, force: true })
})

/** What the compiler prints about files of the project, where there are no types but those of a browser. */
async function compile(files: readonly string[], options: object = {}): Promise<string> {
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: [],
    module: 'nodenext',
    strict: true,
    // The compiler's own declarations are no matter of the package's.
    skipDefaultLibCheck: true,
    noEmit: true,
    ...options,
  }
  write('tsconfig.json', JSON.stringify({ compilerOptions, files }))
  const failed = (error: { stdout: string }) => error
  return (await execute(process.execPath, [compiler], { cwd: project }).catch(failed)).stdout
}

describe('the package, in a project of its own', () => {
  it('has no dependencies and nothing of the contract', () => {
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, unknown>
    }
    expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/@millrace/sdk'])
    const text = readFileSync(join(project, 'node_modules/@millrace/sdk/index.js'), 'utf8')
    expect(text).not.toMatch(/typebox|@millrace\/contract|node:/)
  })

  it('answers a script', async () => {
    write(
      'call.js',
      `import { createClient, MillraceError } from '@millrace/sdk'
import { createEventSender } from '@millrace/sdk/events'
const { BASE_URL: baseUrl, CLIENT_ID: clientId, PASSWORD: password } = process.env
const client = createClient({ baseUrl, clientId, username: 'ada@example.com', password })
const names = []
for await (const { name } of client.listRoles.all({ query: { perPage: 2 } })) names.push(name)
const error = await client.readExperiment({ params: { id: '65f0c0ffee5ca1ab1e0ddba1' } }).catch((thrown) => thrown)
console.log(JSON.stringify({
  email: (await client.readProfile()).email,
  names,
  isOurs: error instanceof MillraceError,
  is: error.is('experimentNotFound'),
  sender: typeof createEventSender,
}))`,
    )
    const { stdout } = await execute(process.execPath, ['call.js'], {
      cwd: project,
      env: { ...process.env, BASE_URL: baseUrl, CLIENT_ID: auth.clientId, PASSWORD: goodPassword },
    })
    const printed = JSON.parse(stdout) as { names: string[] }
    expect(printed).toMatchObject({ email: 'ada@example.com', isOurs: true, is: true, sender: 'function' })
    expect(printed.names).toContain('viewer')
  })

  it('has types that compile, and that refuse what is wrong', async () => {
    write(
      'call.ts',
      `import { createClient, type OperationData } from '@millrace/sdk'
import '@millrace/sdk/events'
import '@millrace/sdk/experiments'
export const client = createClient({ baseUrl: 'https://millrace.example', accessToken: 'a' })
const { rows } = await client.query({ measures: ['events.count'], dimensions: ['events.name'] })
export const count: number | null | undefined = rows[0]?.['events.count']
export const workflow: OperationData<'createWorkflow'> = await client.createWorkflow({
  body: { name: 'Welcome', resourceGroupIds: [] },
})
export const status: 'draft' | 'publishing' | 'published' | 'inactive' | 'error' = workflow.status
`,
    )
    write(
      'wrong.ts',
      `import { createClient } from '@millrace/sdk'
const client = createClient({ baseUrl: 'https://millrace.example', accessToken: 'a' })
await client.createWorkflow({ body: { name: 7 } })
await client.createWorkflows({})
await client.readWorkflow({})
`,
    )
    const stdout = await compile(['call.ts', 'wrong.ts'])
    const faults = [...stdout.matchAll(/^(\w+\.ts)\((\d+),/gm)].map(([, file, line]) => `${file} ${line}`)
    expect(faults).toEqual(['wrong.ts 3', 'wrong.ts 4', 'wrong.ts 5'])
    expect(await compile(['call.ts'], { exactOptionalPropertyTypes: true })).toBe('')
  })
})
