import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { bundledProgram } from '../../src/boot/bundle.ts'
import { findRunningService } from '../../src/platform/files/data-directory.ts'
import { identify, type ProcessIdentity } from '../../src/platform/processes/identity.ts'
import { serverVariable } from './postgres-server.ts'
import { type FamilyMember, readFamily } from './process-family.ts'
import { until } from './until.ts'

const execute = promisify(execFile)

const root = new URL('../../../../', import.meta.url).pathname
/** What `npm start` runs, taken apart so that signals reach the service and not a shell. */
function readStartLine(checkout: string): { environment: Record<string, string>; arguments: string[] } {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const words = scripts.start.split(' ')
  const program = words.indexOf('node')
  return {
    environment: Object.fromEntries(
      words
        .slice(0, program)
        .filter((word) => word.includes('='))
        .map((word) => word.split('=', 2)),
    ),
    arguments: words.slice(program + 1),
  }
}

const adminPassword = 'a password of tests only'

export interface Service {
  readonly baseUrl: string
  readonly trackerUrl: string
  readonly companyId: string
  readonly datasourceId: string
  readonly clientId: string
  readonly admin: { readonly email: string; readonly password: string }
  /** An access token of the administrator. */
  readonly token: string
  readonly dataDirectory: string
  /** Of the service itself, whatever started it. */
  readonly pid: number
  /** Milliseconds from the start of the process to the first ready answer. */
  readonly readyAfter: number
  /** Calls an interface operation with the administrator's token. */
  call(method: string, path: string, body?: unknown, accept?: string): Promise<Response>
  /** Calls an operation below `/v2` as the administrator, which has to succeed, and gives its data. */
  dataOf<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Runs an operator command beside the service and gives what it printed. */
  operate(...argv: readonly string[]): Promise<string>
  /** Answers a statistics query. */
  query(query: unknown): Promise<Record<string, unknown>[]>
  /** Resolves once everything that was accepted is loaded. */
  loaded(): Promise<void>
  /** What it has printed and logged. */
  output(): string
  /** The service and its children. */
  processes(): ProcessIdentity[]
  /** The same, with what was launched in its place, and with what they take. */
  family(): FamilyMember[]
  /** SIGTERM, or another signal, to what was launched; resolves with its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

interface Bootstrap {
  readonly baseUrl: string
  readonly collectorUrl: string
  readonly companyId: string
  readonly clientId: string
  readonly datasourceId: string
  readonly adminEmail: string
}

interface ServiceOptions {
  /** The folder of the repository whose service is started; this one by default. */
  readonly checkout?: string
  /** A new temporary one by default. */
  readonly dataDirectory?: string
  readonly env?: Record<string, string>
  /** What to launch in the place of the service, so that it starts the service in turn. */
  readonly through?: (service: readonly string[]) => readonly string[]
  /** Whether to wait until it is ready (the default), or only until it listens. */
  readonly untilReady?: boolean
}

/** Data directories that no test has named and none has removed. */
const made = new Set<string>()
process.once('exit', () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true })
})

function makeDataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-run-'))
  made.add(directory)
  return directory
}

/** @returns whether no other process has taken it */
function takeLock(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch {
    return false
  }
}

/**
 * A data directory of its own for a service. In a run of tests it is a copy of one that a service was started and
 * stopped on, because a first start takes twice as long as any other; the file that needs it first makes it.
 */
async function prepareDataDirectory(env: Record<string, string>): Promise<string> {
  const directory = makeDataDirectory()
  const run = process.env[serverVariable]
  const ownStores = ['DATABASE_URL', 'CLICKHOUSE_URL', 'MILLRACE_ENCRYPTION_KEY'].every((name) => !env[name])
  if (run === undefined || !ownStores) return directory
  const installation = join(dirname(run), 'installation')
  if (takeLock(`${installation}-lock`)) {
    const first = makeDataDirectory()
    await (await startService({ dataDirectory: first })).stop()
    renameSync(first, installation)
  }
  await until(() => existsSync(installation), 50)
  // Not by fs.cp: it makes the files of PostgreSQL's user its own.
  await execute('cp', ['-a', `${installation}/.`, directory])
  return directory
}

/**
 * What a script builds: the first that finds it older than its sources builds it, others wait for that.
 * @param script below the root of the repository
 */
export async function prepareBuild(name: string, script: string, isBuilt: () => boolean): Promise<void> {
  const run = process.env[serverVariable]
  const lock = join(run === undefined ? tmpdir() : dirname(run), `millrace-${name}-lock`)
  await until(async () => {
    if (isBuilt()) return true
    if (!takeLock(lock)) return false
    try {
      await execute(process.execPath, [join(root, script)])
    } finally {
      rmdirSync(lock)
    }
    return isBuilt()
  }, 100)
}

/** Services start from the bundle, as installed ones do. */
const prepareBundle = () =>
  prepareBuild('bundle', 'scripts/build-server.ts', () => bundledProgram() !== undefined)

/** Asks again while the service says that it is too busy for the moment, which it is where others use the machine. */
export function unlessBusy(ask: () => Promise<Response>): Promise<Response> {
  return until(async () => {
    const reply = await ask()
    return reply.status !== 503 && reply
  }, 200)
}

/** Starts a whole service on a data directory and waits until it is ready, unless told otherwise. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDirectory = options.dataDirectory ?? (await prepareDataDirectory(options.env ?? {}))
  const { checkout = root } = options
  if (checkout === root) await prepareBundle()
  const startLine = readStartLine(checkout)
  const started = performance.now()
  const service = [process.execPath, ...startLine.arguments]
  const [command = '', ...parameters] = options.through?.(service) ?? service
  const child: ChildProcess = spawn(command, parameters, {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a run of tests a session of its own: its engine yields to the service, not to the tests beside it.
    detached: process.env[serverVariable] !== undefined,
    env: {
      ...process.env,
      ...startLine.environment,
      MILLRACE_PORT: '0',
      MILLRACE_DATA_DIR: dataDirectory,
      MILLRACE_ADMIN_PASSWORD: adminPassword,
      MILLRACE_LOG_LEVEL: 'warn',
      // Temporary files may be in memory, of which others take as much as they want.
      MILLRACE_DISK_RESERVE_MIB: '16',
      ...options.env,
    },
  })
  // Not inherited: a service that a failed test leaves behind would hold the test run's own output open for ever.
  child.stderr?.pipe(process.stderr, { end: false })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let output = ''
  const announced = new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      const found = /(http:\/\/[\d.a-z]+:\d+)\/v2/.exec(output)
      if (found?.[1]) resolve(found[1])
    })
    void exited.then((code) =>
      reject(new Error(`the service ended with ${code} before it was ready:\n${output}`)),
    )
  })
  const origin = await announced
  const isReady = async () => (await fetch(`${origin}/health/ready`)).status === 200
  if (options.untilReady !== false) await until(isReady, 20)
  const readyAfter = performance.now() - started
  const bootstrap = JSON.parse(readFileSync(join(dataDirectory, 'bootstrap.json'), 'utf8')) as Bootstrap
  const running = findRunningService(dataDirectory)
  if (running === undefined) throw new Error('the service that answers does not run')
  const granted = await fetch(`${origin}/v2/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'password',
      username: bootstrap.adminEmail,
      password: adminPassword,
      client_id: bootstrap.clientId,
    }),
  })
  const { access_token: token } = (await granted.json()) as { access_token: string }

  const call: Service['call'] = (method, path, body, accept = 'application/json') =>
    fetch(`${origin}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    baseUrl: `${origin}/v2`,
    trackerUrl: `${origin}/collect/${bootstrap.datasourceId}/tracker`,
    companyId: bootstrap.companyId,
    datasourceId: bootstrap.datasourceId,
    clientId: bootstrap.clientId,
    admin: { email: bootstrap.adminEmail, password: adminPassword },
    token,
    dataDirectory,
    pid: running.process.pid,
    readyAfter,
    call,
    async dataOf(method, path, body) {
      const reply = await unlessBusy(() => call(method, `/v2${path}`, body))
      const envelope = (await reply.json()) as { data: never; message: string }
      if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.status} ${envelope.message}`)
      return envelope.data
    },
    async operate(...argv) {
      const main = startLine.arguments.slice(0, startLine.arguments.indexOf('start'))
      const env = {
        ...process.env,
        ...startLine.environment,
        ...options.env,
        MILLRACE_DATA_DIR: dataDirectory,
      }
      const { stdout } = await execute(process.execPath, [...main, ...argv], { cwd: checkout, env })
      return stdout
    },
    async query(query) {
      const reply = await unlessBusy(() => call('POST', '/v2/statistics/query', query))
      const envelope = (await reply.json()) as { data: string; message: string }
      if (!reply.ok) throw new Error(`query failed with ${reply.status}: ${envelope.message}`)
      return JSON.parse(envelope.data) as Record<string, unknown>[]
    },
    async loaded() {
      const waits = async () =>
        (await (await fetch(`${origin}/metrics`)).text()).includes('\nmillrace_log_events 0\n')
      await until(waits, 50)
    },
    family: () => readFamily(child.pid ?? 0),
    output: () => output,
    processes() {
      return readFamily(running.process.pid)
        .map(({ pid }) => identify(pid))
        .filter((identity) => identity !== undefined)
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    },
  }
}

/** Removes what a service left on disk. */
export function removeData({ dataDirectory }: Pick<Service, 'dataDirectory'>): void {
  rmSync(dataDirectory, { recursive: true, force: true })
  made.delete(dataDirectory)
}
