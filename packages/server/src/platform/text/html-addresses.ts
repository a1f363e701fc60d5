import { placeholderPattern, refusedSchemes } from '@millrace/contract/resources/workflow-definition.ts'

/** Attributes that are addresses, of HTML, SVG and MathML. */
const addressAttributes: ReadonlySet<string> = new Set([
  'action',
  'altimg',
  'archive',
  'attributionsrc',
  'background',
  'cite',
  'classid',
  'codebase',
  'data',
  'definitionurl',
  'dynsrc',
  'formaction',
  'href',
  'icon',
  'imagesrcset',
  'longdesc',
  'lowsrc',
  'manifest',
  'ping',
  'poster',
  'profile',
  'src',
  'srcset',
  'usemap',
])
/** Those that hold several, divided by spaces or commas. */
const lists: ReadonlySet<string> = new Set(['archive', 'attributionsrc', 'imagesrcset', 'ping', 'srcset'])

/** Elements that run what an address leads to, or move where all others lead. */
const loadingElements: ReadonlySet<string> = new Set(['applet', 'base', 'embed', 'link', 'object', 'script'])

/** Elements of SVG that give attributes of others their values, addresses among them. */
const animatingElements: ReadonlySet<string> = new Set([
  'animate',
  'animatemotion',
  'animatetransform',
  'set',
])
const animatedValues: ReadonlySet<string> = new Set(['by', 'from', 'to', 'values'])

/** Attributes that are declarations of a style, those of SVG that may hold `url()` among them. */
const styles: ReadonlySet<string> = new Set([
  'clip-path',
  'cursor',
  'fill',
  'filter',
  'marker-end',
  'marker-mid',
  'marker-start',
  'mask',
  'stroke',
  'style',
])

/** Elements of which an attribute is a picture, which a document may hold itself. */
const pictures: ReadonlySet<string> = new Set(['feimage', 'image', 'img', 'input', 'source', 'video'])
const pictureAttributes: ReadonlySet<string> = new Set(['href', 'poster', 'src', 'srcset'])
const isPictureData = (address: string): boolean =>
  /^data:image\/(avif|bmp|gif|jpeg|png|svg\+xml|webp)([;,]|$)/.test(address)

/** The name without the prefix of a namespace, as `xlink:`. */
const localName = (attribute: string): string => attribute.slice(attribute.lastIndexOf(':') + 1)

export const isLoading = (element: string): boolean => loadingElements.has(element)
export const isAnimated = (element: string, attribute: string): boolean =>
  animatingElements.has(element) && animatedValues.has(attribute)
export const isAddress = (attribute: string): boolean => addressAttributes.has(localName(attribute))
export const isStyle = (attribute: string): boolean => styles.has(attribute)
export const isAddressList = (attribute: string): boolean => lists.has(attribute)

/** Character references of the characters that decide about an address; no other one stands for any of them. */
const references: Readonly<Record<string, string>> = {
  Tab: '\t',
  NewLine: '\n',
  nbsp: '\u00a0',
  colon: ':',
  sol: '/',
  bsol: '\\',
  quest: '?',
  num: '#',
  period: '.',
  plus: '+',
  comma: ',',
  commat: '@',
  lpar: '(',
  rpar: ')',
  semi: ';',
  apos: "'",
  quot: '"',
  QUOT: '"',
  amp: '&',
  AMP: '&',
  lt: '<',
  LT: '<',
  gt: '>',
  GT: '>',
}

/** The value of an attribute as a browser decodes it, as far as it matters to an address. */
export function decodeReferences(text: string): string {
  return text.replace(
    // Of a number any zeros may stand in front.
    /&(?:#(?:[xX]0*([0-9a-fA-F]{1,8})|0*([0-9]{1,9}));?|([A-Za-z]{2,10});?)/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(references, name) ? (references[name] ?? '') : whole
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
    },
  )
}

/** An address as a browser reads it, without what stands around it and the breaks within (WHATWG URL, 4.4). */
const asRead = (text: string): string => decodeReferences(text).replace(/^[\0-\x20]+|[\t\n\r]/g, '')

/**
 * Where a value stands that follows this text of an address. `root` is the first step of a path without a host: were it
 * empty, the next step would be a host.
 */
export function placeBehind(before: string): 'start' | 'host' | 'root' | 'part' | 'nowhere' {
  // The value could end a character reference.
  if (/&#?[0-9a-z]*$/i.test(before)) return 'nowhere'
  const text = asRead(before)
  if (text === '') return 'start'
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(text) ?? []
  if (scheme === undefined) {
    // A letter in front may be a value that is absent.
    if (/^x?[\\/]{2,}[^\\/?#]*$/.test(text)) return 'host'
    if (/^x?[\\/]$/.test(text)) return 'root'
    // The value could make a scheme of what stands before it.
    return /^[a-z0-9+.\s-]*$/i.test(text) ? 'nowhere' : 'part'
  }
  if (/^https?$/i.test(scheme)) return /^https?:[\\/]*[^\\/?#]*$/i.test(text) ? 'host' : 'part'
  // A value within a script is decoded before it runs, whatever was encoded.
  return /^(mailto|tel|sms)$/i.test(scheme) ? 'part' : 'nowhere'
}

const placeholders = () => new RegExp(placeholderPattern, 'g')

function hasRefusedScheme(address: string, allowsPicture: boolean): boolean {
  const text = asRead(address).toLowerCase()
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/.exec(text) ?? []
  if (scheme === undefined || !refusedSchemes.has(scheme)) return false
  return !(allowsPicture && isPictureData(text))
}

/** What an attribute must not hold, whatever values are put into it; the end of a sentence, or nothing. */
export function faultOfAttribute(element: string, attribute: string, source: string): string | undefined {
  if (element === 'meta' && attribute === 'http-equiv')
    return asRead(source).trim().toLowerCase() === 'refresh' || placeholders().test(source)
      ? 'moves visitors elsewhere without a click of theirs; remove it'
      : undefined
  const isOfStyle = isStyle(attribute)
  if (!isOfStyle && !isAddress(attribute) && !isAnimated(element, attribute)) return undefined
  const allowsPicture =
    isOfStyle ||
    attribute === 'background' ||
    (pictures.has(element) && pictureAttributes.has(localName(attribute)))
  // A value may be absent at a run.
  const isRefused = [source.replace(placeholders(), ''), source.replace(placeholders(), 'x')].some((text) =>
    addressesIn(text, attribute).some((address) => hasRefusedScheme(address, allowsPicture)),
  )
  return isRefused
    ? 'must not begin with javascript:, vbscript:, data: or another scheme that leads to no page; a picture may be data:image/…'
    : undefined
}

function addressesIn(text: string, attribute: string): string[] {
  if (isStyle(attribute))
    return [...decodeReferences(text).matchAll(/url\(\s*["']?([^"')]*)/gi)].map(([, address = '']) => address)
  // Commas and semicolons may stand within an address, too: what is behind them begins with no scheme then.
  return isAddressList(attribute) || animatedValues.has(attribute)
    ? decodeReferences(text).split(/[\s,;]+/)
    : [text]
}
