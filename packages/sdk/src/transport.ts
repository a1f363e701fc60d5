import { abandonable, backoff, sleep } from './backoff.ts'
import { describeConnectionFailure } from './connection-failure.ts'
import type { OperationRow } from './contract-table.ts'
import {
  AuthenticationError,
  ConnectionError,
  type ErrorContext,
  MillraceError,
  RateLimitError,
  TimeoutError,
  UnavailableError,
} from './errors.ts'
import { refuseFailure } from './reply.ts'
import type { PreparedRequest } from './request.ts'

export interface CallOptions {
  /** Ends the call, whatever it is waiting for; the call throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /**
   * Milliseconds that the call may take with all its repetitions, until its answer is read; for a stream, until it
   * begins. What the client was created with when absent.
   */
  readonly timeoutMs?: number | undefined
  /** How often a request is sent again at most. What the client was created with when absent. */
  readonly maxRetries?: number | undefined
}

export interface TransportOptions {
  readonly fetch: typeof fetch
  readonly timeoutMs: number
  readonly maxRetries: number
  /** Milliseconds; an answer that asks for a longer pause is thrown at once. */
  readonly maxRetryDelayMs: number
}

export interface Call<T> extends CallOptions {
  readonly operation: string
  readonly row: OperationRow
  readonly request: PreparedRequest
  /** Whether it may be sent again although it may have been carried out. */
  readonly isIdempotent: boolean
  /** Gives the access token, a new one where the service has refused the one given. */
  readonly token?: ((refused?: string) => Promise<string>) | undefined
  /** Reads the answer, which is no failure; what it throws counts as a broken connection where it is no error of ours. */
  readonly read: (response: Response, context: ErrorContext) => Promise<T>
}

export interface Transport {
  /** Sends the request, again where that is safe, and gives what `read` makes of the answer. */
  send<T>(call: Call<T>): Promise<T>
}

export function createTransport(defaults: TransportOptions): Transport {
  return {
    async send(call) {
      const { signal, timeoutMs = defaults.timeoutMs, maxRetries = defaults.maxRetries } = call
      signal?.throwIfAborted()
      const context = { operation: call.operation, attempts: 0 }
      const deadline = new AbortController()
      const timer = setTimeout(() => {
        const message = `${call.operation} has not been answered within ${timeoutMs} ms`
        deadline.abort(new TimeoutError(message, { ...context }))
      }, timeoutMs)
      try {
        const either = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal
        return await attempt(call, { ...defaults, maxRetries }, context, either)
      } finally {
        // A stream goes on after this: the signal of the caller still ends it.
        clearTimeout(timer)
      }
    },
  }
}

async function attempt<T>(
  call: Call<T>,
  options: TransportOptions,
  context: { operation: string; attempts: number },
  signal: AbortSignal,
): Promise<T> {
  let refused: string | undefined
  let renewals = 0
  for (;;) {
    const token = call.token && (await abandonable(call.token(refused), signal))
    context.attempts++
    try {
      return await once(call, options, context, token, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!(error instanceof MillraceError)) throw error
      if (isRefusedToken(error, call) && renewals === 0 && call.request.canRepeat) {
        renewals++
        refused = token
        continue
      }
      const retries = context.attempts - renewals
      if (retries > options.maxRetries || !mayRepeat(error, call)) throw error
      const pause = error.retryAfter === undefined ? backoff(retries) : error.retryAfter * 1000
      if (pause > options.maxRetryDelayMs) throw error
      await sleep(pause, signal)
    }
  }
}

async function once<T>(
  { request, row, read }: Call<T>,
  options: TransportOptions,
  context: ErrorContext,
  token: string | undefined,
  signal: AbortSignal,
): Promise<T> {
  const { url, method, body, canRepeat } = request
  // Called without a receiver: browsers refuse `fetch` as a method of another object.
  const send = options.fetch
  const headers = new Headers(request.headers)
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  const now = { ...context }
  try {
    const init: RequestInit & { duplex?: 'half' } = { method, headers, signal, redirect: 'manual' }
    if (body !== undefined) init.body = body
    // A body that is a stream is sent while the answer is awaited: fetch wants that written down.
    if (!canRepeat) init.duplex = 'half'
    const response = await send(url, init)
    await refuseFailure(response, row, now)
    return await read(response, now)
  } catch (error) {
    if (error instanceof MillraceError || signal.aborted) throw error
    throw brokenConnection(error, url, now)
  }
}

/** The error for a connection that failed, of what `fetch` or a body has thrown. */
export function brokenConnection(error: unknown, url: string, context: ErrorContext): ConnectionError {
  const reason = describeConnectionFailure(error)
  const from = URL.canParse(url) ? new URL(url).origin : 'the service'
  return new ConnectionError(`${context.operation} failed: no whole answer from ${from} (${reason})`, {
    ...context,
    cause: error,
  })
}

function isRefusedToken<T>(error: MillraceError, call: Call<T>): boolean {
  return call.token !== undefined && error instanceof AuthenticationError && error.is('unauthenticated')
}

/** A request that the service refused for now was not carried out; of any other failure that is not known. */
function mayRepeat<T>(error: MillraceError, { request, isIdempotent }: Call<T>): boolean {
  if (!request.canRepeat) return false
  if (error instanceof RateLimitError) return true
  if (error instanceof UnavailableError) return isIdempotent && !error.is('timeout')
  return error instanceof ConnectionError && isIdempotent
}
