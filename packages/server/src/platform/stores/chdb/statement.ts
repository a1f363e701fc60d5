import { setTimeout as sleep } from 'node:timers/promises'
import { quoteIdentifier } from '../identifiers.ts'
import { EngineException } from './exceptions.ts'
import type { NativeConnection, NativeEngine, NativeResult } from './native.ts'

/** A statement that runs in the engine, on its own connection. */
export interface RunningStatement {
  /** The engine's result or exception; the exception of a timeout when the engine does not stop by itself. */
  readonly answer: Promise<NativeResult>
  /** Resolves when the engine has let go of the statement and its connection is closed; never rejects. */
  readonly gone: Promise<void>
  readonly isGone: () => boolean
  /** Cancels the statement; resolves when KILL QUERY was sent once. May be called again. */
  cancel(): Promise<void>
}

export interface StatementText {
  readonly sql: string
  readonly format: string
  readonly params?: Readonly<Record<string, string>>
  readonly database?: string
}

export interface StatementTerms {
  /** The setting `log_comment` by which the engine knows it: KILL QUERY cannot name chDB's own query ids. */
  readonly key: string
  readonly arguments: readonly string[]
  /** The engine stops by itself after so many seconds; this process sees to it that it does. */
  readonly seconds: number
  /** Called when the statement still runs long after it was asked to cancel. */
  readonly onStuck: () => void
}

/** KILL QUERY is sent again so often: the statement may not have been registered yet. */
const killEveryMs = 50
/** After its time the engine gets so long to stop by itself, and then as long again after KILL QUERY was sent. */
const graceMs = 400
/** What computes in one block for so long after its end will not come back soon. */
const stuckAfterMs = 120_000

const kill = `KILL QUERY WHERE Settings['log_comment'] = {key:String} ASYNC`

export function startStatement(
  engine: { readonly native: NativeEngine; readonly directory: string },
  text: StatementText,
  terms: StatementTerms,
): RunningStatement {
  const connection = engine.native.connect(engine.directory, terms.arguments)
  let over = false
  let timedOut = false
  let killing: Promise<void> | undefined

  const result = runOn(connection, text)
  const gone = result.then(finish, finish)

  function finish(): void {
    over = true
    connection.close()
  }

  async function killOnce(): Promise<void> {
    const killer = engine.native.connect(engine.directory, [])
    try {
      await killer.query(kill, 'Null', { key: terms.key })
    } finally {
      killer.close()
    }
  }

  async function killUntilGone(first: () => void): Promise<void> {
    while (!over) {
      // A kill that fails is tried again; the statement ends by its own limits at the latest.
      await killOnce().catch(() => {})
      first()
      await Promise.race([gone, sleep(killEveryMs)])
    }
    first()
  }

  function cancel(): Promise<void> {
    killing ??= new Promise((resolve) => void killUntilGone(resolve))
    return killing
  }

  const timeout = (): EngineException =>
    new EngineException('TIMEOUT_EXCEEDED', `Timeout exceeded: maximum: ${terms.seconds * 1000} ms.`)

  const answer = new Promise<NativeResult>((resolve, reject) => {
    const refuse = (): void => reject(timeout())
    const timers = [
      after(terms.seconds * 1000 + graceMs, () => {
        timedOut = true
        void cancel()
      }),
      after(terms.seconds * 1000 + 2 * graceMs, refuse),
      after(terms.seconds * 1000 + stuckAfterMs, terms.onStuck),
    ]
    const settled = (): void => {
      for (const timer of timers) clearTimeout(timer)
    }
    result.then(
      (value) => {
        settled()
        resolve(value)
      },
      (error) => {
        settled()
        reject(timedOut ? timeout() : error)
      },
    )
  })
  // The caller that stopped listening knows why already.
  answer.catch(() => {})
  return { answer, gone, isGone: () => over, cancel }
}

function after(milliseconds: number, work: () => void): NodeJS.Timeout {
  // Beyond what a timer can hold it would fire at once.
  return setTimeout(work, Math.min(milliseconds, 2 ** 31 - 1)).unref()
}

async function runOn(connection: NativeConnection, text: StatementText): Promise<NativeResult> {
  if (text.database !== undefined) {
    await connection.query(`USE ${quoteIdentifier(text.database)}`, 'Null')
  }
  return connection.query(text.sql, text.format, text.params)
}

export function quoteString(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
