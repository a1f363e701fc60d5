import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * The addon of the package `chdb`, without the package's own classes: they run all statements with parameters
 * one after the other and close a connection only when every statement of the process has ended, so that one
 * long query would hold up all others. The addon itself does neither; connections are independent of each other.
 */
export interface NativeEngine {
  /** Opens the directory with the first connection; the others join it. `args` are `--setting=value`. */
  connect(directory: string, args: readonly string[]): NativeConnection
}

export interface NativeConnection {
  /**
   * Runs one statement on a thread of libuv's pool; a second one on the same connection waits for it.
   * @param params values of `{name: Type}` in the escaped form of ClickHouse's HTTP interface
   * @throws Error with the engine's message, `Code: 60. DB::Exception: ...`
   */
  query(sql: string, format: string, params?: Readonly<Record<string, string>>): Promise<NativeResult>
  /** Must not be called while a statement runs on this connection. The last one to close shuts the engine down. */
  close(): void
}

export interface NativeResult {
  readonly bytes: Buffer
  /** Seconds. */
  readonly elapsed: number
  readonly rowsRead: number
  readonly bytesRead: number
}

type Handle = { readonly chdbConnection: unique symbol }

interface Addon {
  CreateConnection(directory: string, args: readonly string[]): Handle
  CloseConnection(handle: Handle): void
  QueryAsyncConnection(
    handle: Handle,
    sql: string,
    format: string,
    params?: Readonly<Record<string, string>>,
  ): Promise<NativeResult>
}

const functions = ['CreateConnection', 'CloseConnection', 'QueryAsyncConnection'] as const

function loadAddon(): Addon {
  const require = createRequire(import.meta.url)
  const loader = join(dirname(require.resolve('chdb')), 'dist', 'loader.js')
  const addon = (require(loader) as { loadNative(): Partial<Addon> }).loadNative()
  const missing = functions.filter((name) => typeof addon[name] !== 'function')
  if (missing.length > 0) {
    const { version } = require('chdb/package.json') as { version: string }
    throw new Error(`chdb ${version} lacks ${missing.join(', ')}: install the version named in package.json`)
  }
  return addon as Addon
}

export function loadNativeEngine(): NativeEngine {
  const addon = loadAddon()
  return {
    connect(directory, args) {
      const handle = addon.CreateConnection(directory, args)
      return {
        query: (sql, format, params) => addon.QueryAsyncConnection(handle, sql, format, params),
        close: () => addon.CloseConnection(handle),
      }
    },
  }
}
