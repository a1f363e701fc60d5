import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'

/**
 * On a place: whether its content is on the way, there, or will not come. A page hides the place by it until that is
 * decided, and sets it itself where the server has put the content in.
 */
const stateName = 'data-trk-shown'
type PlaceState = 'pending' | 'yes' | 'no'
/** On an element with content, with the `shortId`. */
const content = 'data-trk-content'

interface Standing {
  readonly place: Element
  readonly order: number
}

/** Where hosts stand, beside which place and in which order. */
const standing = new WeakMap<Element, Standing>()

/** What an integration is put into, under a shadow root of its own. */
export function createHost({ shortId }: PageIntegration): HTMLElement {
  const host = document.createElement('div')
  host.setAttribute(content, shortId)
  host.attachShadow({ mode: 'open' })
  return host
}

/** Whether another script has put the same integration beside a place. */
export function isShownElsewhere(shortId: string): boolean {
  return document.querySelector(`[${content}="${shortId}"]`) !== null
}

export function isTaken(place: Element): boolean {
  return (place.getAttribute(stateName) ?? 'no') !== 'no'
}

export function setState(place: Element, state: PlaceState): void {
  place.setAttribute(stateName, state)
}

/** Hosts beside a place stand in the order of their integrations, in whichever order their contents come. */
export function insertBeside(
  host: Element,
  emplacement: 'before' | 'after',
  { place, order }: Standing,
): void {
  const next = (at: Element) => (emplacement === 'before' ? at.previousElementSibling : at.nextElementSibling)
  let at = place
  for (let sibling = next(at); sibling; sibling = next(sibling)) {
    const other = standing.get(sibling)
    if (other?.place !== place || (emplacement === 'before' ? other.order < order : other.order > order))
      break
    at = sibling
  }
  standing.set(host, { place, order })
  at[emplacement](host)
}
