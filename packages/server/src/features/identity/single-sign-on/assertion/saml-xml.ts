import { createRequire } from 'node:module'
import { type RefusalReason, SamlRefusal } from './saml-refusal.ts'

const require = createRequire(import.meta.url)
/** Loaded at first use: most services have no single sign-on. */
const library = () => require('@xmldom/xmldom') as typeof import('@xmldom/xmldom')

export const namespaces = {
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
} as const

export interface XmlLimits {
  readonly bytes: number
  readonly depth: number
  readonly elements: number
  /** Most different names of elements: the parser looks through the whole text for the last end of each. */
  readonly names: number
  /**
   * Most namespaces declared by an element and those around it: a canonicalisation holds them against everything
   * inside. Not in the whole document: identity providers declare the same two again for each value.
   */
  readonly declarations: number
  /** Bound of equals signs, and so of attributes; and of ampersands. */
  readonly signs: number
  /** Bound of equals signs in one tag, and so of attributes of an element. */
  readonly tagSigns: number
  /** Bound of `>`, and of `"`: those in text and values are replaced one by one in a canonicalisation. */
  readonly escapes: number
  /** Whether comments and CDATA sections may stand in it; they are refused where a signature is read. */
  readonly comments: boolean
}

/** What a message of an identity provider is read within. */
export const responseLimits: XmlLimits = {
  bytes: 256 * 1024,
  depth: 16,
  elements: 2_000,
  names: 64,
  declarations: 50,
  signs: 4_000,
  tagSigns: 100,
  escapes: 20_000,
  comments: false,
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new SamlRefusal('not-utf8', cause)
  }
}

/** Without the XML declaration, which may say UTF-8 only. */
function afterDeclaration(text: string): string {
  const declaration = /^<\?xml\s[^<>?]*\?>/.exec(text)?.[0]
  if (declaration === undefined) return text
  const encoding = /\sencoding\s*=\s*["']([^"']*)["']/.exec(declaration)?.[1]
  if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') throw new SamlRefusal('not-utf8')
  return text.slice(declaration.length)
}

/** Position after a comment or CDATA section that begins at `at`; any other declaration is refused. */
function afterAside(text: string, at: number, limits: XmlLimits): number {
  if (limits.comments) {
    for (const [start, close] of [
      ['<!--', '-->'],
      ['<![CDATA[', ']]>'],
    ] as const) {
      if (!text.startsWith(start, at)) continue
      const end = text.indexOf(close, at + start.length)
      if (end < 0) throw new SamlRefusal('malformed-xml')
      return end + close.length
    }
  }
  throw new SamlRefusal('markup-declaration')
}

/** Position of the `>` that ends the tag which begins at `at`; quoted values may hold one, but no `<`. */
function endOfTag(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const character = text[i]
    if (character === '>') return i
    if (character === '<') break
    if (character !== '"' && character !== "'") continue
    const close = text.indexOf(character, i + 1)
    if (close < 0 || text.slice(i, close).includes('<')) break
    i = close
  }
  throw new SamlRefusal('malformed-xml')
}

function assertFew(text: string, sign: string, max: number): void {
  let found = 0
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1))
    if (++found > max) throw new SamlRefusal('too-many-elements')
}

/** Counts what the tags of a document, given one after the other, open, name and declare. */
function createTagCount(limits: XmlLimits) {
  const names = new Set<string>()
  /** Each element that is open, with the namespaces declared so far. */
  const open: { readonly name: string; readonly declared: number }[] = []
  let elements = 0

  function begin(tag: string): void {
    const name = /^<([^\s/>]*)/.exec(tag)?.[1] ?? ''
    names.add(name)
    if (++elements > limits.elements || names.size > limits.names) throw new SamlRefusal('too-many-elements')
    const declared = (open.at(-1)?.declared ?? 0) + tag.split('xmlns').length - 1
    if (declared > limits.declarations) throw new SamlRefusal('too-many-elements')
    if (tag.at(-2) !== '/') open.push({ name, declared })
    if (open.length > limits.depth) throw new SamlRefusal('too-deep')
  }

  /** The parser ignores an end tag of another element, and would nest what is counted side by side here. */
  function end(tag: string): void {
    if (open.pop()?.name !== /^<\/([^\s>]*)\s*>$/.exec(tag)?.[1]) throw new SamlRefusal('malformed-xml')
  }

  return {
    isOutside: () => open.length === 0,
    take(tag: string): void {
      // Attributes are compared with each other, so that many in one element cost more than as many in several.
      assertFew(tag, '=', limits.tagSigns)
      if (tag[1] === '/') end(tag)
      else begin(tag)
    },
  }
}

/** Beside the root there is nothing but space. */
function assertBlank(text: string, from: number, to: number): void {
  if (text.slice(from, to).trim() !== '') throw new SamlRefusal('malformed-xml')
}

/**
 * Looks at the text as it is, before any parser does: no document type, no entities, no processing instruction,
 * bounded depth and size. One pass.
 */
function assertPlain(text: string, limits: XmlLimits): void {
  const tags = createTagCount(limits)
  let end = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', end)) {
    if (tags.isOutside()) assertBlank(text, end, at)
    const next = text[at + 1]
    if (next === '!') {
      end = afterAside(text, at, limits)
    } else if (next === '?') {
      throw new SamlRefusal('processing-instruction')
    } else {
      end = endOfTag(text, at) + 1
      tags.take(text.slice(at, end))
    }
  }
  if (!tags.isOutside()) throw new SamlRefusal('malformed-xml')
  assertBlank(text, end, text.length)
}

/** XML 1.0, 2.2. */
const noCharacter = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/** What a reference to a character stands for; of such as are none, a character that may not stand in a document. */
function characterOf(reference: string): string {
  const [, hexadecimal, decimal] = /^&#(?:x([0-9a-fA-F]+)|([0-9]+));$/.exec(reference) ?? []
  const point = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16)
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\0'
}

/**
 * Half of a surrogate pair, which only a reference can write, has the same bytes in a digest as U+FFFD: another
 * text would pass for the signed one.
 */
function assertCharacters(text: string): void {
  if (noCharacter.test(text)) throw new SamlRefusal('malformed-xml')
  for (const [reference] of text.matchAll(/&#\w+;/g))
    if (noCharacter.test(characterOf(reference))) throw new SamlRefusal('malformed-xml')
}

const looseAmpersand = /&(?!(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)/

/** Attributes and references cost a parser far more than their length; those of other entities are none. */
function assertFewSigns(text: string, limits: XmlLimits): void {
  for (const sign of ['=', '&']) assertFew(text, sign, limits.signs)
  for (const sign of ['>', '"']) assertFew(text, sign, limits.escapes)
  if (!limits.comments && looseAmpersand.test(text)) throw new SamlRefusal('malformed-xml')
}

function refuseAny(): never {
  throw new SamlRefusal('malformed-xml')
}

const parserOptions = {
  errorHandler: { warning: refuseAny, error: refuseAny, fatalError: refuseAny },
  // Of XML 1.0: by itself the parser takes U+0085 and U+2028, too, for line ends, and no digest would fit them.
  normalizeLineEndings: (text: string) => text.replaceAll(/\r\n?/g, '\n'),
}

function parse(text: string): Element {
  const { DOMParser } = library()
  const parser = new DOMParser(parserOptions)
  let document: Document | undefined
  try {
    document = parser.parseFromString(text, 'text/xml')
  } catch (error) {
    throw error instanceof SamlRefusal ? error : new SamlRefusal('malformed-xml', error)
  }
  const roots = childElements(document ?? refuseAny())
  const [root] = roots
  if (!root || roots.length !== 1) throw new SamlRefusal('malformed-xml')
  return root
}

/**
 * The root of an untrusted document.
 * @throws SamlRefusal naming what is not accepted
 */
export function parseForeignXml(bytes: Buffer, limits: XmlLimits): Element {
  if (bytes.length > limits.bytes) throw new SamlRefusal('too-large')
  const text = afterDeclaration(decode(bytes))
  assertPlain(text, limits)
  assertFewSigns(text, limits)
  assertCharacters(text)
  return parse(text)
}

/** The root of a text that was signed, so that nothing but signed bytes is read. */
export function parseSignedXml(canonical: string): Element {
  return parse(canonical)
}

export function childElements(parent: Node): Element[] {
  const found: Element[] = []
  for (let node = parent.firstChild; node; node = node.nextSibling)
    if (node.nodeType === 1) found.push(node as Element)
  return found
}

export function isNamed(element: Element, namespace: string, name: string): boolean {
  return element.namespaceURI === namespace && element.localName === name
}

/** Children with this name. */
export function childrenNamed(parent: Element, namespace: string, name: string): Element[] {
  return childElements(parent).filter((child) => isNamed(child, namespace, name))
}

/** The one child with this name, or undefined when there is none. @throws SamlRefusal when there are more */
export function onlyChild(
  parent: Element,
  namespace: string,
  name: string,
  reason: RefusalReason = 'unexpected-structure',
): Element | undefined {
  const found = childrenNamed(parent, namespace, name)
  if (found.length > 1) throw new SamlRefusal(reason)
  return found[0]
}

/** The element and all below it, in document order. */
export function* everyElement(root: Element): Generator<Element> {
  yield root
  for (const child of childElements(root)) yield* everyElement(child)
}

/** An attribute without a namespace; undefined when it is absent. */
export function attributeOf(element: Element, name: string): string | undefined {
  return element.hasAttribute(name) ? (element.getAttribute(name) ?? undefined) : undefined
}

/** The text of an element that holds text alone; undefined when it holds anything else. */
export function plainText(element: Element): string | undefined {
  let text = ''
  for (let node = element.firstChild; node; node = node.nextSibling) {
    if (node.nodeType !== 3) return undefined
    text += node.nodeValue ?? ''
  }
  return text
}
