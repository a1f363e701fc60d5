import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'
import type { Content } from './content.ts'
import { createHost, insertBeside, isShownElsewhere, isTaken, setState } from './places.ts'

export interface SlotOptions {
  readonly settings: PageIntegration
  /** Among those of the page: the earlier one comes first beside a place. */
  readonly order: number
  /** The place of an integration without a selector. */
  readonly self: Element | undefined
  readonly nonce: string | undefined
  /** Beside which the files with the code of integrations are, with the same parameters. */
  readonly codeUrl: string | undefined
}

export type Slot = ReturnType<typeof createSlot>

/** What the page may take away and gets back, until the next page: a page that undoes it always would never end. */
const maxPuts = 10

/** One integration in the page: where it stands and what it shows. */
export function createSlot({ settings, order, self, nonce, codeUrl }: SlotOptions) {
  const { selector, shortId } = settings
  const emplacement = settings.emplacement ?? 'replace'
  /** The one that is filled, or beside which the content stands. */
  let place: Element | undefined
  let host: HTMLElement | undefined
  let content: Content | undefined
  /** Children of the place that the content replaced. */
  let former: Node[] = []
  let puts = 0
  /** What is shown was asked for on the page before. */
  let isFormer = false
  let isSelectorValid = true

  const fills = (target: Element) => target !== self && emplacement === 'replace'

  function select(): Element | undefined {
    if (selector === undefined) return self
    try {
      return isSelectorValid ? (document.querySelector(selector) ?? undefined) : undefined
    } catch {
      isSelectorValid = false
      console.warn(
        `Millrace: the integration ${shortId} has a selector that this browser does not know: ${selector}`,
      )
      return undefined
    }
  }

  /** The place, where it is free for this integration. */
  function findPlace(): Element | undefined {
    const found = select()
    if (!found || found === place) return found
    const isFree = fills(found) ? !isTaken(found) : host || !isShownElsewhere(shortId)
    return isFree ? found : undefined
  }

  /** Whether what it shows, or is to show, still stands where it was put. */
  function stands(): boolean {
    if (!place?.isConnected) return false
    return !host || (fills(place) ? host.parentNode === place : host.isConnected)
  }

  /** So that no other integration, and no other script, puts something there while its content is on the way. */
  function claim(target: Element): void {
    const isThere = target === place && stands()
    if (place && place !== target && fills(place)) setState(place, 'no')
    place = target
    if (fills(target)) {
      setState(target, content ? 'yes' : 'pending')
    } else if (settings.kind !== 'json' && !(isThere && host)) {
      host ??= createHost(settings)
      host.hidden = !content || isFormer
      const side = emplacement === 'after' && target !== self ? 'after' : 'before'
      insertBeside(host, side, { place: target, order })
    }
  }

  function runCode(): void {
    const { code, codePath } = settings
    if (!code && !codePath) return
    const script = document.createElement('script')
    if (nonce) script.nonce = nonce
    if (codePath && codeUrl) {
      const url = new URL(codePath, codeUrl)
      url.search = new URL(codeUrl).search
      script.src = url.href
    } else script.textContent = code ?? ''
    document.head.append(script)
  }

  function putIn(target: Element): void {
    puts++
    claim(target)
    if (content?.kind === 'nodes' && host) {
      host.hidden = false
      if (fills(target) && host.parentNode !== target) {
        former = [...target.childNodes]
        target.replaceChildren(host)
      }
      if (host.shadowRoot) content.afterwards(host.shadowRoot)
    }
    runCode()
    const detail = content?.kind === 'json' ? content.detail : undefined
    target.dispatchEvent(new CustomEvent('trk-content', { bubbles: true, detail }))
  }

  return {
    settings,
    findPlace,
    claim,

    /** The page has changed: what stands there stays until it is decided anew. */
    reset(): void {
      puts = 0
      isFormer = true
    },

    /** Puts in what has come; undefined takes away what was there. */
    show(next: Content | undefined): void {
      if (!next) {
        this.withdraw()
        return
      }
      content = next
      isFormer = false
      if (next.kind === 'nodes') {
        host ??= createHost(settings)
        host.shadowRoot?.replaceChildren(next.nodes)
      }
      const target = place && stands() ? place : findPlace()
      if (target) putIn(target)
    },

    /** Puts in again what the page has taken away, once its place is there. */
    keep(): void {
      if (!content || isFormer || stands() || puts >= maxPuts) return
      const target = findPlace()
      if (target) putIn(target)
    },

    /** It is not for this page: the place need not wait for it. */
    pass(): void {
      const found = place ? undefined : select()
      if (found && fills(found) && !isTaken(found)) setState(found, 'no')
    },

    /** Leaves the place as it was. */
    withdraw(): void {
      if (host && place && fills(place) && host.parentNode === place) place.replaceChildren(...former)
      else host?.remove()
      if (place && fills(place)) setState(place, 'no')
      place = host = content = undefined
      former = []
    },
  }
}
