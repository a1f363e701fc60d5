import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { Environment } from './env.ts'

export type Role = Environment['MILLRACE_ROLES'][number]

/** A place in an S3-compatible object store, as the operator configures it. */
export interface BucketPlace {
  /** Of the bucket, with a prefix behind it where there is one: `https://s3.example.com/bucket/prefix`. */
  readonly url: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
}

/** The configuration of the service, grouped by the part that reads it. */
export interface Config {
  readonly http: {
    readonly host: string
    readonly port: number
    /** Without a trailing slash; undefined means `http://HOST:PORT` of the socket that was opened. */
    readonly publicUrl: string | undefined
    readonly trustedProxies: readonly string[]
    readonly metricsToken: string | undefined
  }
  readonly roles: ReadonlySet<Role>
  readonly logLevel: Environment['MILLRACE_LOG_LEVEL']
  readonly dataDirectory: string
  /** Where uploaded content of datasources is. */
  readonly contentDirectory: string
  /** Largest content of a datasource. */
  readonly maxUploadBytes: number
  /** Largest sum of contents, rows and results of one company. */
  readonly maxStoredBytes: number
  /** File of the country of each address; undefined for the one that the service brings. */
  readonly countryDatabase: string | undefined
  /** Bytes of free disk below which events are refused with 503, and below twice of which what is large is. */
  readonly diskReserveBytes: number
  readonly collectorThreads: number
  /** How long a run of a workflow waits for its data. */
  readonly runnerTimeLimitMs: number
  readonly relational: { readonly url: string | undefined; readonly ownerUrl: string | undefined }
  readonly columnar: { readonly url: string | undefined }
  readonly mail: { readonly smtpUrl: string | undefined; readonly from: string }
  /** An OpenAI-compatible interface; undefined when none is used. */
  readonly languageModel:
    | { readonly url: string; readonly name: string; readonly key: string | undefined }
    | undefined
  /** Ranges beside the public internet that requests to addresses of users may go to. */
  readonly outgoingAllow: readonly string[]
  /** Where exports are. */
  readonly exportDirectory: string
  /** Where they are copied to; undefined where they are not. */
  readonly exportPlace: BucketPlace | undefined
  readonly backups: {
    readonly directory: string
    /** 0 for none by itself. */
    readonly everyHours: number
    readonly keep: number
    /** Where they are copied to; undefined where they are not. */
    readonly place: BucketPlace | undefined
  }
  /** What encrypts backups; undefined where they are not. */
  readonly backupKey: Buffer | undefined
  /** The first seals, all open; undefined for the data directory's own. */
  readonly encryptionKeys: readonly Buffer[] | undefined
  readonly firstAdmin: { readonly email: string; readonly password: string | undefined }
}

export function configFrom(env: Environment): Config {
  return Object.freeze({
    http: Object.freeze({
      host: env.MILLRACE_HOST,
      port: env.MILLRACE_PORT,
      publicUrl: env.MILLRACE_PUBLIC_URL,
      trustedProxies: env.MILLRACE_TRUSTED_PROXIES ?? [],
      metricsToken: env.MILLRACE_METRICS_TOKEN,
    }),
    roles: new Set(env.MILLRACE_ROLES),
    logLevel: env.MILLRACE_LOG_LEVEL,
    dataDirectory: resolve(env.MILLRACE_DATA_DIR),
    contentDirectory: resolve(env.MILLRACE_CONTENT_DIR ?? join(env.MILLRACE_DATA_DIR, 'datasources')),
    maxUploadBytes: env.MILLRACE_MAX_UPLOAD_BYTES,
    maxStoredBytes: env.MILLRACE_MAX_STORED_BYTES,
    countryDatabase: env.MILLRACE_COUNTRY_DATABASE,
    diskReserveBytes: env.MILLRACE_DISK_RESERVE_MIB * 1024 * 1024,
    collectorThreads: env.MILLRACE_COLLECTOR_THREADS ?? Math.max(1, availableParallelism() - 1),
    runnerTimeLimitMs: env.MILLRACE_RUNNER_BUDGET_MS,
    relational: Object.freeze({ url: env.DATABASE_URL, ownerUrl: env.DATABASE_OWNER_URL }),
    columnar: Object.freeze({ url: env.CLICKHOUSE_URL }),
    mail: Object.freeze({ smtpUrl: env.SMTP_URL, from: env.MILLRACE_MAIL_FROM }),
    languageModel: languageModelOf(env),
    outgoingAllow: Object.freeze([...(env.MILLRACE_OUTGOING_ALLOW ?? [])]),
    exportDirectory: resolve(env.MILLRACE_EXPORT_DIR ?? join(env.MILLRACE_DATA_DIR, 'exports')),
    exportPlace: placeOf(env.MILLRACE_EXPORT_S3_URL, env),
    backups: Object.freeze({
      directory: resolve(env.MILLRACE_BACKUP_DIR ?? join(env.MILLRACE_DATA_DIR, '..', 'backups')),
      everyHours: env.MILLRACE_BACKUP_EVERY_HOURS,
      keep: env.MILLRACE_BACKUP_KEEP,
      place: placeOf(env.MILLRACE_BACKUP_S3_URL, env),
    }),
    backupKey: env.MILLRACE_BACKUP_KEY,
    encryptionKeys: env.MILLRACE_ENCRYPTION_KEY,
    firstAdmin: Object.freeze({ email: env.MILLRACE_ADMIN_EMAIL, password: env.MILLRACE_ADMIN_PASSWORD }),
  })
}

function placeOf(url: string | undefined, env: Environment): BucketPlace | undefined {
  const { MILLRACE_S3_REGION: region } = env
  const { MILLRACE_S3_ACCESS_KEY: accessKey, MILLRACE_S3_SECRET_KEY: secretKey } = env
  if (url === undefined || accessKey === undefined || secretKey === undefined) return undefined
  return Object.freeze({ url, region, accessKey, secretKey })
}

function languageModelOf(env: Environment): Config['languageModel'] {
  const { MILLRACE_LANGUAGE_MODEL_URL: url, MILLRACE_LANGUAGE_MODEL_NAME: name } = env
  if (url === undefined || name === undefined) return undefined
  return Object.freeze({ url, name, key: env.MILLRACE_LANGUAGE_MODEL_KEY })
}
