import { describeConnectionFailure } from '../connection-failure.ts'
import { readRetryAfter } from '../retry-after.ts'
import type { PendingEvent } from './envelope.ts'
import type { SenderSettings } from './sender-options.ts'
import { startQuietTimer } from './timers.ts'

/** What became of one request to the collector. */
export type Outcome =
  /** The events are on disk. */
  | { readonly kind: 'accepted' }
  /** 202: the collector counts the events as a crawler's and does not store them. */
  | { readonly kind: 'bot' }
  /** 413: fewer events may pass. */
  | { readonly kind: 'too-large'; readonly status: number; readonly message: string }
  /** Another 4xx: the same request would be answered the same. */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string }
  /** The request may succeed later, and may have been carried out. */
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly status?: number
      readonly retryAfterMs?: number | undefined
      readonly cause?: unknown
    }
  /** The signal of the sender ended it. */
  | { readonly kind: 'aborted' }

/** Smaller bodies gain nothing; what inflates to more than a mebibyte has to keep to a ratio at the collector. */
const minCompressedBytes = 1024
const maxCompressedBytes = 2 ** 20

export function createCollectorRequests(
  settings: Pick<SenderSettings, 'endpoint' | 'headers' | 'requestTimeout' | 'compress' | 'fetch'>,
) {
  const { endpoint, headers, requestTimeout } = settings
  // Called without a receiver: runtimes refuse `fetch` as a method of another object.
  const send = settings.fetch
  let compress = settings.compress && typeof CompressionStream !== 'undefined'

  async function attempt(events: readonly PendingEvent[], signal: AbortSignal): Promise<Outcome> {
    const text = `[${events.map(({ json }) => json).join(',')}]`
    const bytes = events.reduce((sum, event) => sum + event.bytes, 0)
    const isWorthIt = bytes >= minCompressedBytes && bytes <= maxCompressedBytes
    const packed = compress && isWorthIt ? await gzip(text) : undefined
    const sentHeaders = new Headers(headers)
    if (packed) sentHeaders.set('content-encoding', 'gzip')
    const response = await send(endpoint, {
      method: 'POST',
      headers: sentHeaders,
      body: packed ?? text,
      // A redirect would turn the request into a GET of a page, whose 200 says nothing about events.
      redirect: 'manual',
      signal,
    })
    // Read whole, or the connection could not be used again.
    const answer = await readHead(response)
    if (response.status === 415 && packed) {
      compress = false
      return attempt(events, signal)
    }
    return readOutcome(response, answer)
  }

  return {
    /** Sends events as one request. Never throws. */
    async send(events: readonly PendingEvent[], signal: AbortSignal): Promise<Outcome> {
      const controller = new AbortController()
      const abort = (): void => controller.abort()
      signal.addEventListener('abort', abort)
      let timedOut = false
      const stopTimer = startQuietTimer(() => {
        timedOut = true
        controller.abort()
      }, requestTimeout)
      try {
        if (signal.aborted) return { kind: 'aborted' }
        return await attempt(events, controller.signal)
      } catch (cause) {
        if (signal.aborted) return { kind: 'aborted' }
        const message = timedOut
          ? `no answer from ${endpoint} within ${requestTimeout} ms`
          : `${endpoint} was not reached: ${describeConnectionFailure(cause)}`
        return { kind: 'failed', message, cause }
      } finally {
        stopTimer()
        signal.removeEventListener('abort', abort)
      }
    },
  }
}

function readOutcome(response: Response, answer: string): Outcome {
  const { status } = response
  // A page is the answer of something else: of a proxy, or of a site at a wrong address.
  const isPage = response.headers.get('content-type')?.includes('text/html') ?? false
  if (status === 200 && !isPage) return { kind: 'accepted' }
  if (status === 202 && !isPage) return { kind: 'bot' }
  const message = describeAnswer(response, answer)
  if (status === 413) return { kind: 'too-large', status, message }
  if (status >= 400 && status < 500) return { kind: 'refused', status, message }
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), Date.now())
  return { kind: 'failed', status, message, retryAfterMs }
}

function describeAnswer({ status, headers }: Response, answer: string): string {
  const location = headers.get('location')
  if (location !== null) return `${status}, a redirect to ${location}: use the address that it leads to`
  try {
    const envelope = JSON.parse(answer) as { message?: unknown } | null
    if (typeof envelope?.message === 'string') return `${status}: ${envelope.message}`
  } catch {
    // Not an answer of the service.
  }
  return `${status}, and no answer of a collector`
}

const maxAnswerBytes = 16_384

/** The beginning of a body as text; the rest is not waited for. */
async function readHead(response: Response): Promise<string> {
  if (response.body === null) return ''
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; bytes < maxAnswerBytes; ) {
    const { done, value } = await reader.read()
    if (done) return text
    bytes += value.byteLength
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return text
}

async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
