import { lookup } from 'node:dns/promises'
import { type BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSemaphore } from '../limits/semaphore.ts'
import type { Logger } from '../logger.ts'
import { program, version } from '../version.ts'
import { OutgoingError, unreachable } from './outgoing-error.ts'
import { type Answer, type Exchange, exchange } from './outgoing-request.ts'
import { type OutgoingUrl, parseOutgoingUrl } from './outgoing-url.ts'
import { isListed, isPublicAddress } from './public-addresses.ts'

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

/** Sends requests to addresses that users gave, and only to public ones. */
export interface OutgoingClient {
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
   * Reads a text in UTF-8; follows up to three redirects, each checked like the first address. No request carries
   * any credential.
   * @throws OutgoingError also for every status but 2xx
   */
  fetchDocument(url: string, limits: DocumentLimits): Promise<string>
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
    if (isIP(host) !== 0) return [host]
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

  /** The one address to connect to; a name is refused whole when any of its addresses is. */
  async function resolveAllowed(to: OutgoingUrl, signal: AbortSignal): Promise<string> {
    const addresses = await addressesOf(to, signal)
    const [first] = addresses
    if (first === undefined) throw unreachable(to.host, new Error('the name has no address'))
    for (const address of addresses) {
      if (isAllowed(address)) continue
      if (!isPublicAddress(address) || isOfThisMachine(address)) {
        // A literal address shows that it is private; what a name resolves to is not disclosed.
        if (isIP(to.host) !== 0)
          throw new OutgoingError('refused', `${to.host} leads to an address that is not public`)
        throw unreachable(to.host, new Error(`the name leads to ${address}, which is not public`))
      }
      if (to.url.protocol === 'http:')
        throw new OutgoingError('refused', 'the address must begin with https://')
    }
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

  return {
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

    async fetchDocument(url, { limitBytes, timeoutMs }) {
      const { signal, clear } = deadline(timeoutMs)
      try {
        let next = url
        for (let hop = 0; ; hop++) {
          const answer = await ask(next, {
            method: 'GET',
            headers: agent,
            limitBytes,
            beyondLimit: 'fail',
            signal,
          })
          const { status, location, to } = answer
          if (!redirects.has(status) || location === undefined) {
            requireSuccess(answer)
            return textOf(answer.body, to.host)
          }
          if (hop === maxRedirects)
            throw new OutgoingError('status', `${to.host} redirects more than ${maxRedirects} times`, {
              status,
            })
          if (!URL.canParse(location, to.url.href))
            throw new OutgoingError('reply', `${to.host} redirects to no valid address`)
          next = new URL(location, to.url).href
        }
      } finally {
        clear()
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
