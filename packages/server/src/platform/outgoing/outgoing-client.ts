import { lookup } from 'node:dns/promises'
import type { BlockList } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSemaphore } from '../limits/semaphore.ts'
import type { Logger } from '../logger.ts'
import { program, version } from '../version.ts'
import { OutgoingError, unreachable } from './outgoing-error.ts'
import { type Answer, type Exchange, exchange } from './outgoing-request.ts'
import { type OutgoingUrl, parseOutgoingUrl } from './outgoing-url.ts'
import { addressesShownBy, isListed, isPublicAddress } from './public-addresses.ts'

export interface OutgoingClientOptions {
  /** Ranges beside the public internet that the operator lets requests go to, `http:` too. */
  readonly allow?: BlockList
  /** Host names of this service, to which no request goes. */
  readonly ownHosts?: () => readonly string[]
  /** All addresses of a name; tests hand in their own. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  readonly ports?: readonly number[]
  /** Certificates of authorities, in PEM, that are trusted instead of the usual ones. */
  readonly authorities?: string
  /** Longest time for resolving, and for connecting with its handshake; default 10,000. */
  readonly connectMs?: number
  /** Longest time for a message and its answer; default 15,000. */
  readonly postMs?: number
  /** Who does not reach an address learns so after a multiple of this time, whatever the reason; default 1,000. */
  readonly stepMs?: number
  /** The operator may know why an address was not reached. */
  readonly log?: Pick<Logger, 'info'>
}

export interface DocumentLimits {
  readonly limitBytes: number
  /** For all of it, redirects included. */
  readonly timeoutMs: number
}

export interface AskOptions extends DocumentLimits {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface SendOptions extends AskOptions, Pick<Exchange, 'method' | 'onPiece'> {
  /** The length of a stream stands in the headers. */
  readonly body?: string | Readable
}

export interface DownloadLimits extends DocumentLimits {
  /** Longest time without a byte, from the request on. */
  readonly idleMs: number
  /** What more bytes mean: the rest is left out, or the file is of no use. */
  readonly beyondLimit: 'cut' | 'fail'
}

export interface DownloadOptions extends DownloadLimits {
  /** Sent to the origin of the address alone: a redirect to another one gets none of them. */
  readonly headers?: Readonly<Record<string, string>>
  /** What an earlier download answered: unchanged content is not sent again. */
  readonly known?: { readonly etag?: string | undefined; readonly lastModified?: string | undefined }
  readonly onPiece: (piece: Buffer) => Promise<void>
  readonly signal?: AbortSignal
}

/** What a download says about its content. */
export interface Downloaded {
  /** Whether the content is that of `known`, and was not sent. */
  readonly isUnchanged: boolean
  readonly etag: string | undefined
  readonly lastModified: string | undefined
  readonly contentType: string | undefined
}

/** Sends requests to addresses that users gave, and only to public ones. */
export interface OutgoingClient {
  /**
   * Holds the text of an address against the rules, as far as it can be done without asking for its name.
   * @throws OutgoingError `refused`
   */
  validate(url: string): void
  /**
   * Sends a message; follows no redirect.
   * @param body text of a JSON document, sent as it is
   * @throws OutgoingError also for every status but 2xx
   */
  postJson(url: string, body: string, headers?: Readonly<Record<string, string>>): Promise<void>
  /**
   * Sends a message and reads its answer, a text in UTF-8; follows no redirect.
   * @param body text of a JSON document, sent as it is
   * @throws OutgoingError also for every status but 2xx, the reason of the signal when it aborts
   */
  askJson(url: string, body: string, options: AskOptions): Promise<string>
  /**
   * Sends a request as it is given and reads its answer; follows no redirect.
   * @throws OutgoingError also for every status but 2xx, the reason of the signal when it aborts
   */
  send(url: string, options: SendOptions): Promise<Answer>
  /**
   * Reads a text in UTF-8; follows up to three redirects, each checked like the first address. No request carries
   * any credential.
   * @throws OutgoingError also for every status but 2xx
   */
  fetchDocument(url: string, limits: DocumentLimits): Promise<string>
  /**
   * Reads bytes piece by piece, never faster than they are taken; follows redirects as `fetchDocument` does. Content
   * that the server has packed with gzip stays packed; any other coding is refused.
   * @throws OutgoingError also for every status but 2xx, what `onPiece` throws, the reason of the signal
   */
  download(url: string, options: DownloadOptions): Promise<Downloaded>
}

const standardPorts = [80, 443, 8443]
const maxRedirects = 3
const redirects = new Set([301, 302, 303, 307, 308])
/** Of the answer to a message only the status matters. */
const answerBytes = 16_384
/** A name server that does not answer holds a thread of the process: only a few lookups at once. */
const lookupsAtOnce = 4
const lookupsWaiting = 200

const agent = { 'user-agent': `${program}/${version}` }

async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address)
}

function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces()).some((each) => each?.some((one) => one.address === address))
}

/** A signal that aborts with a timeout of its own, and the function that ends the timer. */
function deadline(ms: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const late = new OutgoingError('timeout', `there was no whole answer within ${ms / 1000} s`)
  const timer = setTimeout(() => controller.abort(late), ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}

export function createOutgoingClient(options: OutgoingClientOptions = {}): OutgoingClient {
  const {
    allow,
    ownHosts = () => [],
    resolve = resolveBySystem,
    connectMs = 10_000,
    postMs = 15_000,
    stepMs = 1_000,
    log,
  } = options
  const lookups = createSemaphore(lookupsAtOnce, lookupsWaiting)
  const isAllowed = (address: string) => allow !== undefined && isListed(allow, address)
  const isOwnName = (host: string) => ownHosts().some((own) => own.toLowerCase() === host)
  const rules = {
    ports: new Set(options.ports ?? standardPorts),
    allowsHttp: allow !== undefined && allow.rules.length > 0,
    isOwnHost: isOwnName,
  }

  async function addressesOf({ host }: OutgoingUrl, signal: AbortSignal): Promise<readonly string[]> {
    const shown = addressesShownBy(host)
    if (shown) return shown
    const { promise: stopped, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal.reason)
    const timer = setTimeout(
      () => reject(new OutgoingError('timeout', `the name ${host} was not resolved in time`)),
      connectMs,
    )
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([lookups.run(() => resolve(host)), stopped])
    } catch (error) {
      if (error instanceof OutgoingError) throw error
      throw unreachable(host, error)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  function requireAllowed(to: OutgoingUrl, addresses: readonly string[]): void {
    for (const address of addresses) {
      if (isAllowed(address)) continue
      if (!isPublicAddress(address) || isOfThisMachine(address)) {
        // Its text shows that it is private; what a name resolves to is not disclosed.
        if (addressesShownBy(to.host))
          throw new OutgoingError('refused', `${to.host} leads to an address that is not public`)
        throw unreachable(to.host, new Error(`the name leads to ${address}, which is not public`))
      }
      if (to.url.protocol === 'http:')
        throw new OutgoingError('refused', 'the address must begin with https://')
    }
  }

  /** The one address to connect to; a name is refused whole when any of its addresses is. */
  async function resolveAllowed(to: OutgoingUrl, signal: AbortSignal): Promise<string> {
    const addresses = await addressesOf(to, signal)
    const [first] = addresses
    if (first === undefined) throw unreachable(to.host, new Error('the name has no address'))
    requireAllowed(to, addresses)
    return first
  }

  async function ask(
    text: string,
    wanted: Omit<Exchange, 'to' | 'address' | 'connectMs' | 'authorities'>,
  ): Promise<Answer & { to: OutgoingUrl }> {
    const to = parseOutgoingUrl(text, rules)
    const began = performance.now()
    try {
      const address = await resolveAllowed(to, wanted.signal)
      const { authorities } = options
      return { ...(await exchange({ ...wanted, to, address, connectMs, authorities })), to }
    } catch (error) {
      if (error instanceof OutgoingError && error.fault === 'unreachable') {
        log?.info({ host: to.host, err: error.cause }, 'an address that a user gave was not reached')
        await sleep(stepMs - ((performance.now() - began) % stepMs))
      }
      throw error
    }
  }

  function requireSuccess({ status, to }: { status: number; to: OutgoingUrl }): void {
    if (status < 200 || status > 299)
      throw new OutgoingError('status', `${to.host} answered with status ${status}`, { status })
  }

  /** Follows redirects, each checked like the first address. */
  async function askAlong(
    first: string,
    wantedOf: (url: URL) => Pick<Exchange, 'headers' | 'limitBytes' | 'beyondLimit' | 'signal' | 'onPiece'>,
  ): Promise<Answer & { to: OutgoingUrl }> {
    let next = first
    for (let hop = 0; ; hop++) {
      // What cannot be read as an address at all is refused by `ask`, with what would be right.
      const url = URL.canParse(next) ? new URL(next) : new URL('https://invalid')
      const answer = await ask(next, { method: 'GET', ...wantedOf(url) })
      const { status, location, to } = answer
      if (!redirects.has(status) || location === undefined) return answer
      if (hop === maxRedirects)
        throw new OutgoingError('status', `${to.host} redirects more than ${maxRedirects} times`, {
          status,
        })
      if (!URL.canParse(location, to.url.href))
        throw new OutgoingError('reply', `${to.host} redirects to no valid address`)
      next = new URL(location, to.url).href
    }
  }

  return {
    validate(url) {
      const to = parseOutgoingUrl(url, rules)
      requireAllowed(to, addressesShownBy(to.host) ?? [])
    },

    async postJson(url, body, headers = {}) {
      const { signal, clear } = deadline(postMs)
      try {
        const answer = await ask(url, {
          method: 'POST',
          headers: { ...agent, 'content-type': 'application/json; charset=utf-8', ...headers },
          body,
          limitBytes: answerBytes,
          beyondLimit: 'cut',
          signal,
        })
        requireSuccess(answer)
      } finally {
        clear()
      }
    },

    async askJson(url, body, { headers = {}, limitBytes, timeoutMs, signal: caller }) {
      const { signal, clear } = deadline(timeoutMs)
      try {
        const answer = await ask(url, {
          method: 'POST',
          headers: { ...agent, 'content-type': 'application/json; charset=utf-8', ...headers },
          body,
          limitBytes,
          beyondLimit: 'fail',
          signal: caller ? AbortSignal.any([caller, signal]) : signal,
        })
        requireSuccess(answer)
        return textOf(answer.body, answer.to.host)
      } finally {
        clear()
      }
    },

    async send(url, { method, headers = {}, body, onPiece, limitBytes, timeoutMs, signal: caller }) {
      const { signal, clear } = deadline(timeoutMs)
      try {
        const answer = await ask(url, {
          method,
          headers: { ...headers, ...agent },
          ...(body !== undefined && { body }),
          onPiece,
          limitBytes,
          beyondLimit: 'fail',
          signal: caller ? AbortSignal.any([caller, signal]) : signal,
        })
        requireSuccess(answer)
        return answer
      } finally {
        clear()
        if (typeof body === 'object') body.destroy()
      }
    },

    async fetchDocument(url, { limitBytes, timeoutMs }) {
      const { signal, clear } = deadline(timeoutMs)
      try {
        const wanted = { headers: agent, limitBytes, beyondLimit: 'fail', signal } as const
        const answer = await askAlong(url, () => wanted)
        requireSuccess(answer)
        return textOf(answer.body, answer.to.host)
      } finally {
        clear()
      }
    },

    async download(url, { headers = {}, known, limitBytes, beyondLimit, idleMs, timeoutMs, ...rest }) {
      const { onPiece, signal: caller } = rest
      const whole = deadline(timeoutMs)
      const idle = new AbortController()
      const silent = new OutgoingError('timeout', `nothing came for ${idleMs / 1000} s`)
      const timer = setTimeout(() => idle.abort(silent), idleMs)
      const signals = [whole.signal, idle.signal, ...(caller ? [caller] : [])]
      const conditions = {
        ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }),
        ...(known?.lastModified === undefined ? {} : { 'if-modified-since': known.lastModified }),
      }
      const origin = URL.canParse(url) ? new URL(url).origin : ''
      try {
        const answer = await askAlong(url, (at) => ({
          headers: { ...(at.origin === origin && { ...headers, ...conditions }), ...agent },
          limitBytes,
          beyondLimit,
          signal: AbortSignal.any(signals),
          async onPiece(piece) {
            await onPiece(piece)
            timer.refresh()
          },
        }))
        const isUnchanged = answer.status === 304 && Object.keys(conditions).length > 0
        if (!isUnchanged) requireSuccess(answer)
        const { etag, 'last-modified': lastModified, 'content-type': contentType } = answer.headers
        return { isUnchanged, etag, lastModified, contentType }
      } finally {
        clearTimeout(timer)
        whole.clear()
      }
    },
  }
}

function textOf(body: Buffer, host: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw new OutgoingError('reply', `the answer of ${host} is no text in UTF-8`, { cause: error })
  }
}
