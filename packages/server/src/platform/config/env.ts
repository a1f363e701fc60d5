import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseEncryptionKey } from '../crypto/encryption-key.ts'
import { nearestName } from '../text/nearest.ts'

/** One environment variable: how it is written in documents and how its text becomes a value. */
interface Variable<T> {
  readonly description: string
  /** What stands in the table as default; the parsed default is `parse(default)`. */
  readonly fallback?: string
  /** Never printed; may also come from the file that `<NAME>_FILE` names. */
  readonly secret?: true
  readonly parse: (text: string) => T
}

class FaultyValue extends Error {}

const text = (value: string): string => value

const integer =
  (from: number, to: number) =>
  (value: string): number => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= from && number <= to))
      throw new FaultyValue(`must be a whole number from ${from} to ${to}`)
    return number
  }

const oneOf =
  <T extends string>(...allowed: readonly T[]) =>
  (value: string): T => {
    const found = allowed.find((each) => each === value)
    if (found === undefined) throw new FaultyValue(`must be one of ${allowed.join(', ')}`)
    return found
  }

const listOf =
  <T extends string>(...allowed: readonly T[]) =>
  (value: string): readonly T[] => {
    const parts = value.split(',').map((part) => part.trim())
    return parts.map(oneOf(...allowed))
  }

const url =
  (...protocols: readonly string[]) =>
  (value: string): string => {
    const protocol = URL.canParse(value) ? new URL(value).protocol : ''
    if (!protocols.includes(protocol)) {
      throw new FaultyValue(
        `must be an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`,
      )
    }
    return value.replace(/\/+$/, '')
  }

/** A base that paths are added to and that stands in pages, mails and commands for a shell. */
const publicUrl = (value: string): string => {
  const text = url('http:', 'https:')(value)
  const { username, password, search, hash } = new URL(text)
  if (`${username}${password}${search}${hash}` !== '' || !/^[\w.:/[\]~%-]+$/.test(text))
    throw new FaultyValue('must be a plain address, without user, query and fragment')
  return text
}

const email = (value: string): string => {
  if (!/^[^\s@"<>]+@[^\s@"<>]+\.[^\s@"<>]+$/.test(value)) throw new FaultyValue('must be an e-mail address')
  return value
}

const password = (value: string): string => {
  if ([...value].length < 8) throw new FaultyValue('must have at least 8 characters')
  return value
}

/** What can stand in a header. */
const token = (value: string): string => {
  if (!/^[\x21-\x7e]{1,4096}$/.test(value)) throw new FaultyValue('must be printable ASCII without spaces')
  return value
}

const cidrList = (value: string): readonly string[] => {
  const parts = value.split(',').map((part) => part.trim())
  for (const part of parts) {
    const [, address = '', prefix = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part) ?? []
    const bits = isIP(address) === 4 ? 32 : 128
    if (isIP(address) === 0 || Number(prefix) > bits) {
      throw new FaultyValue('must be addresses or CIDR ranges, separated by commas')
    }
  }
  return parts
}

const encryptionKey = (value: string): Buffer => {
  const key = parseEncryptionKey(value)
  if (!key) throw new FaultyValue('must be base64 of 32 random bytes, as `openssl rand -base64 32` prints')
  return key
}

const encryptionKeys = (value: string): readonly Buffer[] => value.split(',').map(encryptionKey)

interface DefaultedVariable<T> extends Variable<T> {
  readonly fallback: string
}

/** Keeps in the type whether a variable has a default, so that its value is known to be there. */
function variable<T>(each: DefaultedVariable<T>): DefaultedVariable<T>
function variable<T>(each: Variable<T>): Variable<T>
function variable<T>(each: Variable<T>): Variable<T> {
  return each
}

/** Every variable the service reads, in one list of which the table in docs/operating.md is generated: hence the length. */
export const variables = {
  MILLRACE_PORT: variable({
    description: 'Port of interface, collector and documents; 0 takes a free one.',
    fallback: '8080',
    parse: integer(0, 65535),
  }),
  MILLRACE_HOST: variable({
    description: 'Address to listen on; `0.0.0.0` for every interface.',
    fallback: '127.0.0.1',
    parse: text,
  }),
  MILLRACE_DATA_DIR: variable({
    description: 'Directory that holds the embedded stores, the event log and the outbox.',
    fallback: './data',
    parse: text,
  }),
  MILLRACE_ADMIN_EMAIL: variable({
    description: 'E-mail of the first administrator; read at the first start only.',
    fallback: 'admin@millrace.local',
    parse: email,
  }),
  MILLRACE_ADMIN_PASSWORD: variable({
    description:
      'Password of the first administrator (8 characters or more, better 12); read at the first start only. Without it one is generated and printed once.',
    secret: true,
    parse: password,
  }),
  MILLRACE_PUBLIC_URL: variable({
    description:
      'Address under which users and senders reach the service, for links and the banner; default `http://HOST:PORT`.',
    parse: publicUrl,
  }),
  MILLRACE_LOG_LEVEL: variable({
    description: 'Least level that is logged: fatal, error, warn, info, debug, trace or silent.',
    fallback: 'info',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  }),
  MILLRACE_ROLES: variable({
    description: 'What this process does, separated by commas: interface, collector, worker.',
    fallback: 'interface,collector,worker',
    parse: listOf('interface', 'collector', 'worker'),
  }),
  MILLRACE_TRUSTED_PROXIES: variable({
    description:
      'Addresses or CIDR ranges of proxies whose X-Forwarded-* headers are believed; by default none. Needed behind a proxy, as for an https address: otherwise all clients count as one.',
    parse: cidrList,
  }),
  MILLRACE_COUNTRY_DATABASE: variable({
    description:
      'File in the format MMDB that knows the country of each IPv4 address, such as GeoLite2 Country; without it the one that comes with the service, of June 2026.',
    parse: text,
  }),
  MILLRACE_DISK_RESERVE_MIB: variable({
    description:
      'Free disk space, in MiB, below which the collector answers 503 instead of filling the disk; below twice as much uploads, imports, results and other large things are refused. 0 for none.',
    fallback: '512',
    parse: integer(0, 1_000_000),
  }),
  MILLRACE_COLLECTOR_THREADS: variable({
    description:
      'Threads that read and validate requests of many events, each started when it is first needed; default one fewer than there are cores, at least 1. With 0 the main thread does it all.',
    parse: integer(0, 64),
  }),
  MILLRACE_RUNNER_BUDGET_MS: variable({
    description:
      'Milliseconds that a workflow may wait for its data; then what is not there counts as absent and the run ends at once.',
    fallback: '200',
    parse: integer(10, 10_000),
  }),
  MILLRACE_CONTENT_DIR: variable({
    description:
      'Directory of uploaded content of datasources; default `datasources` in the data directory. Processes that share a database share it too.',
    parse: text,
  }),
  MILLRACE_MAX_UPLOAD_BYTES: variable({
    description: 'Largest content of a datasource in bytes, uploaded or fetched.',
    fallback: '2147483648',
    parse: integer(1, 1_000_000_000_000),
  }),
  MILLRACE_MAX_STORED_BYTES: variable({
    description:
      'Largest sum of what one company stores, in bytes: contents and rows of its datasources, and results of saved queries.',
    fallback: '21474836480',
    parse: integer(1, 1_000_000_000_000_000 - 1),
  }),
  MILLRACE_METRICS_TOKEN: variable({
    description: 'When set, `/metrics` is answered only with `Authorization: Bearer <token>`.',
    secret: true,
    parse: text,
  }),
  MILLRACE_ENCRYPTION_KEY: variable({
    description:
      'Key that seals secrets in the database: base64 of 32 random bytes; after a comma older keys that still open. Without it the file `encryption.key` of the data directory is made and used.',
    secret: true,
    parse: encryptionKeys,
  }),
  MILLRACE_BACKUP_DIR: variable({
    description:
      'Directory of backups, on another disk if you can; `backups` beside the data directory by default.',
    parse: text,
  }),
  MILLRACE_BACKUP_EVERY_HOURS: variable({
    description: 'Hours between two backups that the service makes by itself; 0 for none.',
    fallback: '0',
    parse: integer(0, 8_760),
  }),
  MILLRACE_BACKUP_KEEP: variable({
    description:
      'How many backups are kept of those that the service makes by itself; older ones are removed.',
    fallback: '7',
    parse: integer(1, 1_000),
  }),
  MILLRACE_BACKUP_KEY: variable({
    description:
      'Key that encrypts backups: base64 of 32 random bytes. Without it anyone who can read the directory can read them. Keep it elsewhere.',
    secret: true,
    parse: encryptionKey,
  }),
  MILLRACE_EXPORT_DIR: variable({
    description:
      'Directory of exports, which other programs may read: COMPANY/EXPORT/dt=DAY/events.parquet; `exports` in the data directory by default. Processes that share a database share it too.',
    parse: text,
  }),
  MILLRACE_EXPORT_S3_URL: variable({
    description:
      'Address of a bucket of an S3-compatible store, with a prefix behind it if you like, where exports are copied to: `https://s3.eu-west-1.amazonaws.com/bucket/exports`. An internal one has to be in `MILLRACE_OUTGOING_ALLOW`.',
    parse: publicUrl,
  }),
  MILLRACE_BACKUP_S3_URL: variable({
    description: 'The same for backups, which `millrace backup fetch` brings back.',
    parse: publicUrl,
  }),
  MILLRACE_S3_REGION: variable({
    description: 'Region that requests to buckets are signed for.',
    fallback: 'us-east-1',
    parse: token,
  }),
  MILLRACE_S3_ACCESS_KEY: variable({
    description: 'Access key of the buckets.',
    parse: token,
  }),
  MILLRACE_S3_SECRET_KEY: variable({
    description: 'Secret of the access key.',
    secret: true,
    parse: token,
  }),
  MILLRACE_OUTGOING_ALLOW: variable({
    description:
      'Addresses or CIDR ranges beside the public internet that webhooks and other requests to addresses of users may go to, by plain http too; none by default.',
    parse: cidrList,
  }),
  MILLRACE_LANGUAGE_MODEL_URL: variable({
    description:
      'Base address of an OpenAI-compatible interface, as `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`, that reads questions which the grammar cannot read and phrases reports. It is sent questions with the queries before them, names of measures and dimensions, and sentences without their figures; without it none is used. An internal address may be given.',
    parse: publicUrl,
  }),
  MILLRACE_LANGUAGE_MODEL_NAME: variable({
    description: 'Name of the model; needed with `MILLRACE_LANGUAGE_MODEL_URL`.',
    parse: text,
  }),
  MILLRACE_LANGUAGE_MODEL_KEY: variable({
    description: 'Key that is sent to it as a bearer token; none by default.',
    secret: true,
    parse: token,
  }),
  DATABASE_URL: variable({
    description: 'PostgreSQL to use instead of the embedded one.',
    secret: true,
    parse: url('postgres:', 'postgresql:'),
  }),
  DATABASE_OWNER_URL: variable({
    description:
      'The same database with the role that owns the tables and may create schemas; used at a start only. The role of `DATABASE_URL` then reads and writes rows, and can add to the audit log but not change it.',
    secret: true,
    parse: url('postgres:', 'postgresql:'),
  }),
  CLICKHOUSE_URL: variable({
    description:
      'ClickHouse to use instead of the embedded engine: `http(s)://user:password@host:port/database`.',
    secret: true,
    parse: url('http:', 'https:'),
  }),
  SMTP_URL: variable({
    description:
      'Mail server: `smtp(s)://user:password@host:port`; `smtp:` takes STARTTLS when it is offered, and insists on it before it tells a password to another machine. Without it mails are written as `.eml` files below the data directory.',
    secret: true,
    parse: url('smtp:', 'smtps:'),
  }),
  MILLRACE_MAIL_FROM: variable({
    description: 'Sender of the mails.',
    fallback: 'Millrace <millrace@localhost>',
    parse: text,
  }),
} as const

type Variables = typeof variables
type ValueOf<V> = V extends Variable<infer T> ? T : never

/** Parsed environment: absent variables without a default are undefined. */
export type Environment = {
  readonly [K in keyof Variables]: Variables[K] extends DefaultedVariable<unknown>
    ? ValueOf<Variables[K]>
    : ValueOf<Variables[K]> | undefined
}

/** All faulty variables at once, one line each. */
export class FaultyEnvironment extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(
      `The environment has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    )
    this.name = 'FaultyEnvironment'
    this.faults = faults
  }
}

/** Names that belong to tests and benchmarks, never to the service. */
const foreign = /^MILLRACE_(TEST|BENCH)_/

function readText(name: string, secret: boolean, source: NodeJS.ProcessEnv): string | undefined {
  const direct = source[name]
  const file = secret ? source[`${name}_FILE`] : undefined
  if (direct !== undefined && direct !== '' && file !== undefined && file !== '') {
    throw new FaultyValue(`is given twice: here and by ${name}_FILE; keep one`)
  }
  if (file !== undefined && file !== '') {
    try {
      return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    } catch (error) {
      throw new FaultyValue(
        `cannot be read from the file that ${name}_FILE names: ${(error as Error).message}`,
      )
    }
  }
  return direct === '' ? undefined : direct
}

/**
 * Reads and checks the environment. Values are named in faults only where they are no secret.
 * @throws FaultyEnvironment naming every faulty or unknown `MILLRACE_` variable.
 */
export function readEnvironment(source: NodeJS.ProcessEnv): Environment {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, each] of Object.entries<Variable<unknown>>(variables)) {
    let given: string | undefined
    try {
      given = readText(name, each.secret === true, source) ?? each.fallback
      values[name] = given === undefined ? undefined : each.parse(given)
    } catch (error) {
      if (!(error instanceof FaultyValue)) throw error
      const shown = each.secret || given === undefined ? '' : ` (it is "${given}")`
      faults.push(`${name} ${error.message}${shown}`)
    }
  }
  const known = new Set(
    Object.entries<Variable<unknown>>(variables).flatMap(([name, each]) =>
      each.secret ? [name, `${name}_FILE`] : [name],
    ),
  )
  for (const name of Object.keys(source)) {
    if (name.startsWith('MILLRACE_') && !known.has(name) && !foreign.test(name)) {
      const nearest = nearestName(name, known)
      faults.push(`${name} is not a known variable${nearest ? `; did you mean ${nearest}?` : ''}`)
    }
  }
  const roles = values.MILLRACE_ROLES as readonly string[] | undefined
  if (roles?.includes('collector') && !roles.includes('worker')) {
    faults.push(
      'MILLRACE_ROLES names collector without worker: events wait in the data directory of the process that collects them, and only a worker of the same process loads them',
    )
  }
  if (values.DATABASE_OWNER_URL !== undefined && values.DATABASE_URL === undefined) {
    faults.push('DATABASE_OWNER_URL is given without DATABASE_URL, the role that the service works as')
  }
  const keys = [values.MILLRACE_S3_ACCESS_KEY, values.MILLRACE_S3_SECRET_KEY]
  for (const name of ['MILLRACE_EXPORT_S3_URL', 'MILLRACE_BACKUP_S3_URL'] as const) {
    if (values[name] !== undefined && keys.includes(undefined))
      faults.push(`${name} is given without MILLRACE_S3_ACCESS_KEY and MILLRACE_S3_SECRET_KEY`)
  }
  const isModelNamed = values.MILLRACE_LANGUAGE_MODEL_NAME !== undefined
  if (values.MILLRACE_LANGUAGE_MODEL_URL !== undefined && !isModelNamed) {
    faults.push('MILLRACE_LANGUAGE_MODEL_URL is given without MILLRACE_LANGUAGE_MODEL_NAME, the model to ask')
  }
  if (source.MILLRACE_LANGUAGE_MODEL_URL === undefined || source.MILLRACE_LANGUAGE_MODEL_URL === '') {
    for (const name of ['MILLRACE_LANGUAGE_MODEL_NAME', 'MILLRACE_LANGUAGE_MODEL_KEY']) {
      if (values[name] !== undefined) {
        faults.push(`${name} is given without MILLRACE_LANGUAGE_MODEL_URL, so that no model is asked`)
      }
    }
  }
  if (source.NATS_URL)
    faults.push(
      'NATS_URL is not supported by this version: the event log lives in the data directory; unset it',
    )
  if (faults.length > 0) throw new FaultyEnvironment(faults)
  return Object.freeze(values) as Environment
}
