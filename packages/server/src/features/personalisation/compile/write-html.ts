import { escapeHtml } from '../../../platform/text/escape-html.ts'
import type { HtmlPlace } from '../../../platform/text/html-scanner.ts'
import { encodePart, linkAddress, webAddress } from './addresses.ts'

/** Where no quotes end the value, nothing but letters and digits stays as it is. */
const escapeBare = (text: string): string =>
  text.replace(/[^\p{L}\p{N}]/gu, (found) => `&#${found.codePointAt(0)};`)

/** Words, numbers and colours; nothing that ends a declaration or calls a function. */
const stylePattern = /^[\p{L}\p{N}#%.,+_ -]*$/u

/** Characters that end an address in a style sheet. */
const encodeForStyle = (address: string): string =>
  address.replace(/["'()\\\s]/g, (found) => `%${found.charCodeAt(0).toString(16).padStart(2, '0')}`)

/**
 * A value as its place takes it; nothing where it cannot be put there without harm.
 * @param mayLeadTo whether a whole address that comes from who calls may stand there; any may where it is absent
 */
export function writeHtml(
  value: string,
  place: HtmlPlace,
  mayLeadTo: (address: string) => boolean = () => true,
): string {
  switch (place) {
    case 'text':
    case 'attribute':
      return escapeHtml(value)
    case 'bare-attribute':
      return escapeBare(value)
    case 'address':
      return escapeHtml(allowed(linkAddress(value)) ?? '')
    case 'address-part':
      // As a step of a path it would lead up, however it is encoded.
      return /^\.\.?$/.test(value) ? '' : escapeHtml(encodePart(value))
    case 'address-root':
      // `.` is no step at all, but keeps the slashes beside it apart.
      return /^\.{0,2}$/.test(value) ? '.' : escapeHtml(encodeForStyle(encodePart(value)))
    case 'style':
      return stylePattern.test(value) ? value : ''
    case 'style-address': {
      const address = allowed(webAddress(value))
      return address === undefined ? '' : escapeHtml(encodeForStyle(address))
    }
    case 'address-host':
    case 'nowhere':
      return ''
  }

  function allowed(address: string | undefined): string | undefined {
    return address !== undefined && mayLeadTo(address) ? address : undefined
  }
}
