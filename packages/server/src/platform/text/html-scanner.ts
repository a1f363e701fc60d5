import {
  decodeReferences,
  faultOfAttribute,
  isAddress,
  isAddressList,
  isAnimated,
  isLoading,
  isStyle,
  placeBehind,
} from './html-addresses.ts'

/** Where in a document a value is put, which decides how it is written. */
export type HtmlPlace =
  | 'text'
  | 'attribute'
  /** A value without quotes around it. */
  | 'bare-attribute'
  /** The begin of an attribute that is an address, and further on in it. */
  | 'address'
  | 'address-part'
  /** The first step of a path without a host: were it empty, the next step would be a host. */
  | 'address-root'
  /** What names the host of an address, which no value may. */
  | 'address-host'
  | 'style'
  | 'style-address'
  /** In a script, a tag, the name of an attribute or a comment: no value can be put there safely. */
  | 'nowhere'

/** A place of a value, with what it stands in. */
export interface PlaceInHtml {
  readonly place: HtmlPlace
  /** From 1. */
  readonly line: number
  /** In lower case; empty in text. */
  readonly element: string
  readonly attribute: string
}

/** The value of an attribute that must not stand in a document, by its characters from `start` up to `end`. */
export interface RefusedValue extends Omit<PlaceInHtml, 'place'> {
  readonly start: number
  readonly end: number
  readonly isQuoted: boolean
  /** Why, as the end of a sentence. */
  readonly fault: string
}

/** Elements whose content is text without markup, in which characters are escaped all the same. */
const textElements: ReadonlySet<string> = new Set(['textarea', 'title'])

/** Elements whose content is no markup. */
const rawElements: ReadonlySet<string> = new Set([
  ...textElements,
  'iframe',
  'noembed',
  'noframes',
  'noscript',
  'plaintext',
  'script',
  'style',
  'xmp',
])

type State =
  | 'text'
  | 'raw'
  | 'comment'
  | 'declaration'
  | 'tag-name'
  | 'tag'
  | 'attribute-name'
  | 'after-name'
  | 'before-value'
  | 'quoted'
  | 'bare'

/** Of an address that holds values. */
const maxAddressLength = 8_192

/** Before the dashes that begin a comment: they end it too in `<!-->`, but not in `<!--!>`. */
const commentStart = '\0'

const isSpace = (character: string): boolean => /[\t\n\f\r ]/.test(character)

/**
 * Follows the text of a document from left to right and knows in which place it is. It reads markup as browsers do
 * where it is well formed, and where it is not it says `nowhere` rather than `text`.
 */
export class HtmlScanner {
  #state: State = 'text'
  #tag = ''
  #isEnd = false
  #attribute = ''
  #quote = ''
  /** Of the attribute's value so far, of a list the last entry; a placeholder stands as one letter. */
  #value = ''
  /** Where an address within a style began. */
  #urlStart: number | undefined
  /** What the first value within an address has settled for all that follow in it. */
  #settled: 'address-part' | 'address-host' | 'nowhere' | undefined
  #hasHostOfValue = false
  #raw = ''
  #rawStart = 0
  #rawLine = 0
  #valueStart = 0
  #valueLine = 0
  #offset = 0
  #line = 1
  readonly refused: RefusedValue[] = []
  readonly #html: string
  readonly #inspect: (nested: string) => readonly RefusedValue[]
  /** The last characters, to find the end of comments and raw elements. */
  #tail = ''
  /** Of a raw element: whether something in it looks like a tag. */
  #hasMarkup = false
  /** A comment within a script moves its end in ways that depend on what follows. */
  #isLost = false

  /** @param inspect what a document within this one must not hold */
  constructor(html: string, inspect: (nested: string) => readonly RefusedValue[]) {
    this.#html = html
    this.#inspect = inspect
  }

  /** Reads on through the document's own text. */
  read(text: string): void {
    for (const character of text) {
      this.#step(character)
      this.#offset += character.length
      if (character === '\n') this.#line++
    }
  }

  /** The place of a value at this point, of so many characters; it counts as a letter for what follows. */
  put(length: number): PlaceInHtml {
    const line = this.#line
    const place = this.#place()
    this.#offset += length
    const isInTag = this.#state === 'quoted' || this.#state === 'bare'
    return {
      place,
      line,
      element: isInTag ? this.#tag : '',
      attribute: isInTag ? this.#attribute : '',
    }
  }

  /** At the end of the document. */
  end(): void {
    if (this.#state === 'raw') this.#endRaw(this.#offset)
    else if (this.#state === 'quoted' || this.#state === 'bare') this.#endValue()
  }

  #place(): HtmlPlace {
    if (this.#isLost) return 'nowhere'
    switch (this.#state) {
      case 'text':
        return 'text'
      case 'raw':
        // Within SVG a title holds markup.
        return textElements.has(this.#raw) && !(this.#raw === 'title' && this.#hasMarkup) ? 'text' : 'nowhere'
      case 'before-value':
        this.#beginValue('bare', this.#offset)
        return this.#placeOfValue('bare-attribute')
      case 'bare':
        return this.#placeOfValue('bare-attribute')
      case 'quoted':
        return this.#placeOfValue('attribute')
      default:
        return 'nowhere'
    }
  }

  #placeOfValue(otherwise: 'attribute' | 'bare-attribute'): HtmlPlace {
    const place = this.#findPlace(otherwise)
    this.#value += 'x'
    return place
  }

  #findPlace(otherwise: 'attribute' | 'bare-attribute'): HtmlPlace {
    const name = this.#attribute
    if (name.startsWith('on') || name === 'srcdoc') return 'nowhere'
    if (this.#tag === 'meta' && name === 'http-equiv') return 'nowhere'
    if (isAnimated(this.#tag, name)) return 'nowhere'
    const isOfStyle = isStyle(name)
    if (!isOfStyle && !isAddress(name)) return otherwise
    if (otherwise === 'bare-attribute') return 'nowhere'
    if (!isOfStyle) return isLoading(this.#tag) ? 'nowhere' : this.#placeInAddress(this.#value)
    if (this.#urlStart === undefined) return 'style'
    const place = this.#placeInAddress(this.#value.slice(this.#urlStart).replace(/^\s*["']?/, ''))
    if (place === 'address-part') return 'style'
    return place === 'address' ? 'style-address' : place
  }

  #placeInAddress(before: string): 'address' | 'address-part' | 'address-root' | 'address-host' | 'nowhere' {
    if (this.#settled !== undefined) return this.#settled
    const place = before.length > maxAddressLength ? 'nowhere' : placeBehind(before)
    if (place === 'start') return 'address'
    if (place === 'host') this.#hasHostOfValue = true
    if (place === 'root') {
      this.#settled = 'address-part'
      return 'address-root'
    }
    this.#settled = place === 'nowhere' ? place : `address-${place}`
    return this.#settled
  }

  #step(character: string): void {
    switch (this.#state) {
      case 'text':
        if (character === '<') this.#enter('tag-name')
        return
      case 'raw':
        this.#tail = (this.#tail + character).slice(-(this.#raw.length + 3)).toLowerCase()
        if (character === '<') this.#hasMarkup = true
        if (this.#raw === 'script' && this.#tail.endsWith('<!--')) this.#isLost = true
        if (this.#tail.startsWith(`</${this.#raw}`) && /[\s/>]$/.test(this.#tail)) {
          this.#endRaw(this.#offset - this.#raw.length - 2)
          this.#isEnd = true
          this.#tag = this.#raw
          if (character === '>') this.#closeTag()
          else this.#state = 'tag'
        }
        return
      case 'comment':
        this.#tail = (this.#tail + character).slice(-5)
        if (this.#tail.endsWith('-->') || (this.#tail.endsWith('--!>') && this.#tail[0] !== commentStart))
          this.#state = 'text'
        return
      case 'declaration':
        if (character === '>') this.#state = 'text'
        return
      case 'tag-name':
        this.#readTagName(character)
        return
      case 'tag':
        if (character === '>') this.#closeTag()
        else if (!isSpace(character) && character !== '/') {
          this.#attribute = character.toLowerCase()
          this.#state = 'attribute-name'
        }
        return
      case 'attribute-name':
        if (character === '>') this.#closeTag()
        else if (character === '=') this.#startValue()
        else if (isSpace(character)) this.#state = 'after-name'
        else if (character === '/') this.#state = 'tag'
        else this.#attribute += character.toLowerCase()
        return
      case 'after-name':
        if (character === '>') this.#closeTag()
        else if (character === '=') this.#startValue()
        else if (character === '/') this.#state = 'tag'
        else if (!isSpace(character)) {
          this.#attribute = character.toLowerCase()
          this.#state = 'attribute-name'
        }
        return
      case 'before-value':
        if (character === '>') this.#closeTag()
        else if (character === '"' || character === "'") {
          this.#quote = character
          this.#beginValue('quoted', this.#offset + 1)
        } else if (!isSpace(character)) {
          this.#beginValue('bare', this.#offset)
          this.#extendValue(character)
        }
        return
      case 'quoted':
        if (character === this.#quote) {
          this.#endValue()
          this.#state = 'tag'
        } else this.#extendValue(character)
        return
      case 'bare':
        if (character === '>' || isSpace(character)) this.#endValue()
        if (character === '>') this.#closeTag()
        else if (isSpace(character)) this.#state = 'tag'
        else this.#extendValue(character)
    }
  }

  #enter(state: 'tag-name'): void {
    this.#state = state
    this.#tag = ''
    this.#isEnd = false
  }

  #startValue(): void {
    this.#value = ''
    this.#state = 'before-value'
  }

  #beginValue(state: 'quoted' | 'bare', start: number): void {
    this.#state = state
    this.#valueStart = start
    this.#valueLine = this.#line
    this.#hasHostOfValue = false
    this.#beginAddress()
  }

  #beginAddress(): void {
    this.#value = ''
    this.#urlStart = undefined
    this.#settled = undefined
  }

  #extendValue(character: string): void {
    const isOfStyle = isStyle(this.#attribute)
    const divides = isOfStyle
      ? character === ')'
      : isAddressList(this.#attribute) && (isSpace(character) || character === ',')
    if (divides) this.#beginAddress()
    else this.#value += character
    if (isOfStyle && character === '(' && /url\($/i.test(decodeReferences(this.#value.slice(-40)))) {
      this.#urlStart = this.#value.length
      this.#settled = undefined
    }
  }

  #endValue(): void {
    const [element, attribute] = [this.#tag, this.#attribute]
    const source = this.#html.slice(this.#valueStart, this.#offset)
    const [ofNested] = attribute === 'srcdoc' ? this.#inspect(decodeReferences(source)) : []
    const fault = this.#hasHostOfValue
      ? 'must name its host without placeholders; a binding can give the path, the query, or the whole address'
      : (ofNested?.fault ?? faultOfAttribute(element, attribute, source))
    if (fault === undefined) return
    const isQuoted = this.#state === 'quoted'
    const range = { start: this.#valueStart, end: this.#offset, line: this.#valueLine, isQuoted }
    this.refused.push({ ...range, element, attribute, fault })
  }

  /** A browser that runs no scripts, and one that is within SVG, reads markup where others read text. */
  #endRaw(end: number): void {
    if (this.#raw === 'script' || !this.#hasMarkup) return
    const [start, before] = [this.#rawStart, this.#rawLine - 1]
    for (const nested of this.#inspect(this.#html.slice(start, end)))
      this.refused.push({
        ...nested,
        start: start + nested.start,
        end: start + nested.end,
        line: before + nested.line,
      })
  }

  #readTagName(character: string): void {
    if (this.#tag === '' && character === '/' && !this.#isEnd) {
      this.#isEnd = true
      return
    }
    if (this.#tag === '' && (character === '!' || character === '?')) {
      this.#tag = character
      return
    }
    if (this.#tag === '!' && character === '-') {
      this.#tag = '!-'
      return
    }
    if (this.#tag === '!-' && character === '-') {
      this.#state = 'comment'
      this.#tail = `${commentStart}--`
      return
    }
    if (/^[!?]/.test(this.#tag)) {
      this.#state = character === '>' ? 'text' : 'declaration'
      return
    }
    if (this.#tag === '' && !/[a-z]/i.test(character)) {
      // Not a tag but a sign, as in "1 < 2"; behind `</` a browser makes a comment of it.
      if (this.#isEnd) this.#state = character === '>' ? 'text' : 'declaration'
      else this.#state = character === '<' ? 'tag-name' : 'text'
      return
    }
    if (character === '>') this.#closeTag()
    else if (isSpace(character) || character === '/') this.#state = 'tag'
    else this.#tag += character.toLowerCase()
  }

  #closeTag(): void {
    if (!this.#isEnd && rawElements.has(this.#tag)) {
      this.#raw = this.#tag
      this.#rawStart = this.#offset + 1
      this.#rawLine = this.#line
      this.#tail = ''
      this.#hasMarkup = false
      this.#state = 'raw'
    } else this.#state = 'text'
  }
}
