import { isIdentifier } from '@millrace/contract/events/ids.ts'
import { attempt } from './attempt.ts'
import { readCookie, readValue, writeCookie } from './cookies.ts'
import { readEventData } from './event-data.ts'
import type { Track, TrackerOptions } from './track.ts'

const retryMs = 60_000
/** Milliseconds after which an event that could not be delivered is given up. */
const expiry = 30 * 60_000
/**
 * What outlives its page may have 64 KiB altogether, and the browser refuses what goes beyond: a text of this many
 * characters has at most three bytes for each.
 */
const maxKeptAlive = 20_000
const tmpIdName = 'trk_tmpId'
const clientIdName = 'trk_clientId'

declare global {
  interface Navigator {
    /** https://w3c.github.io/gpc/ */
    readonly globalPrivacyControl?: boolean
  }
}

/** 96 random bits as digits. `randomUUID` exists on pages with https alone. */
const randomText = (): string => crypto.getRandomValues(new Uint32Array(3)).join('')

/** A tracker of the page it runs on. It never throws: what it refuses it names on the console. */
export const createTracker = (
  { company, datasource, domain, consent: consentOption, signals }: Omit<TrackerOptions, 'collector'>,
  collector: string | URL,
): Track => {
  /**
   * Each event stands here from before it is sent until it is answered, under a key of its own: tabs never write over
   * each other, and the next page delivers what this one could not. Two tabs may send one event, which the collector
   * counts once by its `eventId`.
   */
  let storage: Record<string, string> = attempt(() => localStorage) ?? {}
  const sending: Record<string, Promise<unknown>> = {}
  /** What was called before the first decision on consent; undefined from then on. */
  let held: (() => void)[] | undefined = []
  /** Of this device; undefined while nothing may be stored and sent. */
  let tmpId: string | undefined
  let clientId: string | undefined
  let referrer: string | undefined = document.referrer
  let route: string | undefined
  /** Events of this route, by name and data. */
  let sent: Record<string, 1> = {}

  const warn = (name: unknown, rule: unknown) => console.warn('Millrace', name, rule)
  const guard =
    <Args extends unknown[]>(run: (...args: Args) => unknown) =>
    (...args: Args): unknown =>
      attempt(
        () => run(...args),
        (error) => warn(args[0], error),
      )
  const ready = guard((run: () => void) => (tmpId ? run() : held?.push(run)))
  const getTmpId = () => tmpId && (readCookie(tmpIdName) || tmpId)
  const getClientId = (): string | undefined =>
    tmpId && (attempt(() => sessionStorage[clientIdName]) || readCookie(clientIdName) || clientId)

  /** @param key begins with the datasource, a hyphen, the event's time and another hyphen */
  const deliver = (key: string, body: string): void => {
    const forget = () => delete sending[key]
    sending[key] ||= fetch(`${collector}collect/${datasource}/tracker`, {
      method: 'POST',
      body,
      keepalive: body.length < maxKeptAlive,
    })
      .then((reply) => reply.status < 500 && delete storage[key])
      .then(forget, forget)
  }

  /** Sends again what waits, and forgets what is older than some milliseconds, or everything. */
  const retry = (maxAge?: number): void => {
    // What the prototype of a storage has begins with no datasource.
    for (const key in storage) {
      const [start, time] = key.split('-') as [string, never]
      if (start !== datasource) continue
      if (Date.now() - time < (maxAge as number)) deliver(key, storage[key] as string)
      else delete storage[key]
    }
  }

  /** Begins another page of an application where the route is another; a fragment alone is a place on a page. */
  const look = (): void => {
    const now = location.href.replace(/#(?![/!]).*/, '')
    if (now !== route) {
      // Where a visit comes from belongs to the page that it came to.
      if (route || (referrer as string).split('/')[2] === location.host) referrer = undefined
      route = now
      sent = {}
      const user = readValue(() => location.href, 'trk-u')
      if (user && user !== getClientId()) identify(user)
    }
  }

  const send = (name: string, data: unknown = {}, id?: string): unknown => {
    look()
    const read = readEventData(name, data, warn)
    const once = name + JSON.stringify(read) + id
    if (typeof read === 'string') return warn(name, read)
    if (!sent[once]) {
      sent[once] = 1
      const timestamp = Date.now()
      const eventId = `${timestamp}-${randomText()}`
      const event = { key: company, name, url: location.href, referrer, data: read, eventId, v: 1, timestamp }
      ready(() => {
        const key = `${datasource}-${eventId}`
        const body = JSON.stringify({
          ...event,
          tmpId: getTmpId(),
          clientId: getClientId(),
          consent: mustAsk && true,
        })
        attempt(
          () => (storage[key] = body),
          // It is full: this page goes on in its memory.
          () => {
            storage = { [key]: body }
          },
        )
        deliver(key, body)
      })
    }
  }

  const identify = (id: unknown): void => {
    const text = typeof id === 'object' ? '' : `${id}`
    if (isIdentifier(text))
      ready(() => {
        remember(text)
        send('identify', {}, text)
      })
    else warn(id, 'client-id-placeholder')
  }

  /** @param id empty to forget */
  const remember = (id: string): void => {
    clientId = id
    writeCookie(clientIdName, id, 180 * 86_400, domain)
    // biome-ignore lint/suspicious/noAssignInExpressions: a statement takes more bytes
    attempt(() => (id ? (sessionStorage[clientIdName] = id) : delete sessionStorage[clientIdName]))
  }

  const decide = (given: boolean): void => {
    const waiting = held
    held = undefined
    tmpId = given ? readCookie(tmpIdName) || tmpId || randomText() : undefined
    writeCookie(tmpIdName, tmpId, 365 * 86_400, domain)
    if (given) {
      look()
      waiting?.forEach(ready)
    } else {
      remember('')
      retry()
      // Other tabs hear of it; its key begins with the datasource, so that it is forgotten like an event.
      storage[datasource] = ''
      retry()
    }
  }

  const retryIfAllowed = guard(() => tmpId && retry(expiry))
  const consent = guard(decide)
  setInterval(retryIfAllowed, retryMs)
  addEventListener('visibilitychange', retryIfAllowed)
  addEventListener('online', retryIfAllowed)
  ;(window as { navigation?: EventTarget }).navigation?.addEventListener('currententrychange', look)
  addEventListener('storage', ({ key }) => tmpId && key === datasource && consent(false))
  const mustAsk =
    consentOption || (signals && (+(navigator.doNotTrack as string) || navigator.globalPrivacyControl))
  if (!mustAsk) consent(true)

  return { ready, event: guard(send), identify: guard(identify), consent, getClientId, getTmpId }
}
