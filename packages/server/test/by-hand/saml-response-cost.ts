/**
 * How long a hostile response holds the process (faults.md, A06: below 50 ms). Run by hand, on an idle machine:
 *
 *   node packages/server/test/by-hand/saml-response-cost.ts
 *
 * Verifies messages that stay just within every bound, of somebody who has nothing signed and of somebody who has
 * kept an old signature, and prints the median and the slowest of fifty runs of each in milliseconds.
 */
import { verifyResponse } from '../../src/features/single-sign-on/assertion-verifier.ts'
import { SamlRefusal } from '../../src/features/single-sign-on/saml-refusal.ts'
import { mostCertificates } from '../../src/features/single-sign-on/signed-element.ts'
import { makeKey } from '../support/identity-provider.ts'
import { costlyResponses, hostileAcsUrl, withSignedInfo } from '../support/saml-hostile.ts'

const keys = await Promise.all(Array.from({ length: mostCertificates }, () => makeKey()))
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
  throw new Error('a message without a signature was accepted')
}

const signer = keys.at(-1)?.privateKey ?? ''
for (const [name, xml] of Object.entries(costlyResponses)) {
  for (const [who, message] of [
    ['unsigned', xml],
    ['old signature', withSignedInfo(xml, signer)],
  ] as const) {
    const packed = Buffer.from(message).toString('base64')
    const runs = Array.from({ length: 50 }, () => measure(packed))
    const times = runs.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const shown = [times[times.length >> 1], times.at(-1)].map((ms) => (ms ?? 0).toFixed(1).padStart(6))
    console.log(`${shown.join(' ')} ms  ${who}, ${name}: ${runs[0]?.reason}`)
  }
}
