import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { createFixedWindow } from '../../../../platform/limits/window.ts'
import { networkOf } from '../../../../platform/network-address.ts'

/** Far more than the users of one network begin or end at once; verifying costs about a millisecond each. */
const maxPerSecond = 20

/** Of all browsers of a network that kept their name, which programs can do too. */
const maxStartsOfBrowsers = 100

/** Counts by the second. @returns a function that counts one and throws DomainError `tooManySamlResponses` */
function createCounter(clock: Clock): (counted: string, max: number) => void {
  const window = createFixedWindow(clock, 1000)
  return (counted, max) => {
    const retryAfter = window.take(counted, max)
    if (retryAfter > 0)
      throw new DomainError('tooManySamlResponses', { retryAfter }, { retryAfterSeconds: retryAfter })
  }
}

/** Bounds the steps of sign-ins that one network may take in a second. */
export function createResponseThrottle(clock: Clock): (address: string) => void {
  const count = createCounter(clock)
  return (address) => count(networkOf(address), maxPerSecond)
}

/**
 * Bounds how many sign-ins begin in a second. A browser that shows its name is apart from what other sites can have
 * the browsers of its network do, because those requests carry no cookie.
 */
export function createStartThrottle(
  clock: Clock,
): (from: { address: string; browser: string | undefined }) => void {
  const count = createCounter(clock)
  return ({ address, browser }) => {
    const network = networkOf(address)
    if (browser === undefined) return count(network, maxPerSecond)
    count(`browser ${browser}`, maxPerSecond)
    count(`browsers ${network}`, maxStartsOfBrowsers)
  }
}
