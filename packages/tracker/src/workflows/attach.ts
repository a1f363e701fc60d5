import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'
import { completeAddress, type Visitor } from './addresses.ts'
import { fetchContent } from './content.ts'
import { entriesOf, watchDataLayer } from './data-layer.ts'
import { isWithin, passes } from './filters.ts'
import { createSlot, type Slot, type SlotOptions } from './slot.ts'

export interface AttachOptions extends Pick<SlotOptions, 'self' | 'nonce' | 'codeUrl'> {
  readonly integrations: readonly PageIntegration[]
  /** Undefined while nothing may be asked for. */
  readonly visitor: (page: URL) => Visitor | undefined
}

/** Between two looks at the page at least. */
const minPauseMs = 100
/** Looking takes at most one part of so many of the page's time. */
const pauseShare = 20

/** What is one page to its visitors: parameters of the address may change while it stays. */
export function pageOf({ pathname, hash }: Pick<URL, 'pathname' | 'hash'>): string {
  return /^#[/!]/.test(hash) ? pathname + hash : pathname
}

interface Asked {
  readonly slot: Slot
  /** The page for which it was asked last. */
  page?: string | undefined
  request?: AbortController | undefined
}

/**
 * Attaches integrations to the page for as long as it lives: each once a page, as soon as its place, its events and its
 * filters allow it. Nothing of it is thrown into the page.
 */
export function attach({ integrations, visitor, self, nonce, codeUrl }: AttachOptions): void {
  const page = () => new URL(location.href)
  const layer = watchDataLayer(window as { dataLayer?: unknown }, () => look())
  const all = integrations
    .filter(({ domain }) => isWithin(location.hostname, domain))
    .map((settings, order): Asked => ({ slot: createSlot({ settings, order, self, nonce, codeUrl }) }))
  const isWaiting = all.some(({ slot }) => slot.settings.waitForEvents?.length)
  let lookedAt = 0
  let pauseMs = 0
  let isDueSoon = false

  async function ask(each: Asked, now: URL, who: Visitor): Promise<void> {
    const { slot } = each
    const { settings } = slot
    const request = new AbortController()
    each.page = pageOf(now)
    each.request = request
    const context = { page: now, visitor: who, entries: entriesOf(window as { dataLayer?: unknown }) }
    try {
      const content = await fetchContent({
        kind: settings.kind,
        display: completeAddress(settings.display, settings, context),
        click: completeAddress(settings.click, settings, context),
        nonce,
        signal: request.signal,
      })
      if (each.request === request) slot.show(content)
    } catch (error) {
      if (each.request !== request) return
      console.warn(`Millrace: the integration ${settings.shortId} cannot be shown`, error)
      slot.withdraw()
    } finally {
      // A place that stays as it is may be another integration's.
      look()
    }
  }

  function attend(each: Asked, now: URL): void {
    const { slot } = each
    if (each.page === pageOf(now)) {
      slot.keep()
      return
    }
    if (each.page !== undefined) {
      each.page = undefined
      each.request?.abort()
      each.request = undefined
      slot.reset()
    }
    const who = visitor(now)
    const { filters, waitForEvents = [] } = slot.settings
    const isDue = waitForEvents.length === 0 || layer.sawOneOf(waitForEvents)
    const isWanted = who && isDue && passes(filters, now, who.clientId)
    const place = isWanted ? slot.findPlace() : undefined
    if (!who || !place) {
      slot.withdraw()
      if (isDue && !isWanted) slot.pass()
      return
    }
    slot.claim(place)
    void ask(each, now, who)
  }

  function lookNow(): void {
    isDueSoon = false
    const started = performance.now()
    try {
      if (isWaiting) layer.watch()
      const now = page()
      for (const each of all) attend(each, now)
    } catch (error) {
      console.warn('Millrace: integrations cannot be attached', error)
    }
    lookedAt = performance.now()
    pauseMs = Math.max(minPauseMs, (lookedAt - started) * pauseShare)
  }

  function look(): void {
    if (isDueSoon) return
    isDueSoon = true
    setTimeout(lookNow, Math.max(0, lookedAt + pauseMs - performance.now()))
  }

  function begin(): void {
    lookNow()
    new MutationObserver(look).observe(document, { childList: true, subtree: true })
    // `history.pushState` is noticed where browsers say so, else with the change of the page that follows it.
    const { navigation } = window as { navigation?: EventTarget }
    navigation?.addEventListener('currententrychange', look)
    for (const type of ['popstate', 'hashchange', 'load']) addEventListener(type, look)
  }

  if (all.length === 0) return
  // The page may push to it at once, without looking whether it is there.
  if (isWaiting) layer.watch()
  if ((document as { prerendering?: boolean }).prerendering) {
    document.addEventListener('prerenderingchange', begin)
  } else if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin)
  else begin()
}
