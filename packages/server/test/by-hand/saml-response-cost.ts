/**
 * How long a hostile response holds the process (docs/faults.md, A06: below 50 ms). Run by hand, on an idle machine:
 *
 *   node packages/server/test/by-hand/saml-response-cost.ts
 *
 * Verifies messages that stay just within every bound, of an attacker who has nothing signed, of one who has kept
 * an old signature, and of an identity provider that is hostile itself; then messages beyond a bound. Prints the
 * median and the slowest of fifty runs of each in milliseconds, and the worst median of all.
 */
import { verifyResponse } from '../../src/features/identity/single-sign-on/assertion/assertion-verifier.ts'
import { SamlRefusal } from '../../src/features/identity/single-sign-on/assertion/saml-refusal.ts'
import { maxCertificates } from '../../src/features/identity/single-sign-on/assertion/signed-element.ts'
import { makeKey } from '../support/identity-provider.ts'
import {
  costlyResponses,
  excessiveResponses,
  hostileAcsUrl,
  withSignatures,
  withSignedInfo,
} from '../support/saml-hostile.ts'

const keys = await Promise.all(Array.from({ length: maxCertificates }, () => makeKey()))
const certificates = keys.map(({ certificate }) => certificate)

function measure(message: string): { ms: number; reason: string } {
  const start = performance.now()
  try {
    verifyResponse(message, {
      issuer: 'i',
      certificates,
      audience: 'x',
      acsUrl: hostileAcsUrl,
      now: Date.now(),
    })
  } catch (error) {
    if (!(error instanceof SamlRefusal)) throw error
    return { ms: performance.now() - start, reason: error.reason }
  }
  throw new Error('a hostile message was accepted')
}

const signer = keys.at(-1)?.privateKey ?? ''
let worst = 0

function report(name: string, xml: string): void {
  const packed = Buffer.from(xml).toString('base64')
  const runs = Array.from({ length: 50 }, () => measure(packed))
  const times = runs.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const [median = 0, slowest = 0] = [times[times.length >> 1], times.at(-1)]
  worst = Math.max(worst, median)
  const shown = [median, slowest].map((ms) => ms.toFixed(1).padStart(6))
  console.log(`${shown.join(' ')} ms  ${name}: ${runs[0]?.reason}`)
}

for (const [name, xml] of Object.entries(costlyResponses)) {
  report(`unsigned, ${name}`, xml)
  report(`old signature, ${name}`, withSignedInfo(xml, signer))
  report(`signed, ${name}`, withSignatures(xml, signer))
}
for (const [name, { xml }] of Object.entries(excessiveResponses)) report(`too much, ${name}`, xml)
console.log(`${worst.toFixed(1).padStart(6)} ms is the worst median`)
