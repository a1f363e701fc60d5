import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import { networkOf } from '../../platform/network-address.ts'

/** Far more than people of one network sign in at once; verifying costs about a millisecond each. */
const mostPerSecond = 20

/**
 * Bounds the steps of sign-ins that one network may take in a second.
 * @returns a function that counts one and throws DomainError `tooManySamlResponses` beyond the bound
 */
export function createResponseThrottle(clock: Clock): (address: string) => void {
  let second = 0
  // Emptied every second: it holds no more networks than have sent something in this one.
  const counts = new Map<string, number>()
  return (address) => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) {
      second = now
      counts.clear()
    }
    const network = networkOf(address)
    const count = (counts.get(network) ?? 0) + 1
    counts.set(network, count)
    if (count > mostPerSecond)
      throw new DomainError('tooManySamlResponses', { retryAfter: 1 }, { retryAfterSeconds: 1 })
  }
}
