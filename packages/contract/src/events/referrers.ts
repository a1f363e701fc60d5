import { type Draft, readText } from './draft.ts'
import { eventLimits } from './limits.ts'
import { cutText } from './texts.ts'

/** Pages, and apps of Android, whose host is their package: `android-app://com.example.mail/`. */
const schemes: ReadonlySet<string> = new Set(['http:', 'https:', 'android-app:'])

/** Of a domain name, and of an Android package; nothing longer is a host. */
const maxHostLength = 255

/**
 * The host of `referrer` in lower case: where a visit comes from. `''` where none was sent, where it is no address of a
 * page or an app, and where it is the host of the page itself. The rest of the address is not kept: it may hold what
 * another site knows of the person.
 */
export function readReferrerHost(value: unknown, url: string, draft: Draft): string {
  if (value === undefined || value === null || value === '') return ''
  if (typeof value !== 'string') {
    draft.note('referrer-wrong-type', 'referrer', value)
    return ''
  }
  const host = hostOf(readText(draft, 'referrer', value, eventLimits.referrer))
  return host === '' || host === hostOf(cutText(url, eventLimits.url)) ? '' : host
}

/** Most addresses: a name in lower case, whose end is no number. The parser of addresses takes five times as long. */
const plainAddress = /^https?:\/\/((?:[a-z0-9-]+\.)+[a-z]+)(?::\d{1,4})?(?:[/?#]|$)/

function hostOf(address: string): string {
  const plain = plainAddress.exec(address)?.[1]
  if (plain !== undefined && plain.length <= maxHostLength && !plain.includes('xn--')) return plain
  const url = URL.parse(address)
  if (!url || !schemes.has(url.protocol)) return ''
  const host = url.hostname.toLowerCase()
  return host.length <= maxHostLength && !host.includes('%') ? host : ''
}
