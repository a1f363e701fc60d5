/** Where in a document a value is put, which decides how it is written. */
export type HtmlPlace =
  | 'text'
  | 'attribute'
  /** A value without quotes around it. */
  | 'bare-attribute'
  /** The begin of an attribute that is an address, and further on in it. */
  | 'address'
  | 'address-part'
  | 'style'
  | 'style-address'
  /** In a script, a tag, the name of an attribute or a comment: no value can be put there safely. */
  | 'nowhere'

/** Attributes that are addresses. */
const addressAttributes: ReadonlySet<string> = new Set([
  'action',
  'background',
  'cite',
  'data',
  'formaction',
  'href',
  'longdesc',
  'manifest',
  'ping',
  'poster',
  'src',
  'srcset',
  'xlink:href',
])

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
  /** Of the attribute's value so far; a placeholder stands as one letter. */
  #value = ''
  #raw = ''
  /** The last characters, to find the end of comments and raw elements. */
  #tail = ''
  /** Of a raw element: whether something in it looks like a tag. */
  #hasMarkup = false
  /** A comment within a script moves its end in ways that depend on what follows. */
  #isLost = false

  /** Reads on through the document's own text. */
  read(text: string): void {
    for (const character of text) this.#step(character)
  }

  /** The place of a value at this point; it counts as a letter for what follows. */
  put(): HtmlPlace {
    if (this.#isLost) return 'nowhere'
    switch (this.#state) {
      case 'text':
        return 'text'
      case 'raw':
        // Within SVG a title holds markup.
        return textElements.has(this.#raw) && !(this.#raw === 'title' && this.#hasMarkup) ? 'text' : 'nowhere'
      case 'before-value':
        this.#state = 'bare'
        this.#value = 'x'
        return this.#placeOfValue('', 'bare-attribute')
      case 'bare': {
        const before = this.#value
        this.#value += 'x'
        return this.#placeOfValue(before, 'bare-attribute')
      }
      case 'quoted': {
        const before = this.#value
        this.#value += 'x'
        return this.#placeOfValue(before, 'attribute')
      }
      default:
        return 'nowhere'
    }
  }

  #placeOfValue(before: string, otherwise: 'attribute' | 'bare-attribute'): HtmlPlace {
    const name = this.#attribute
    if (name.startsWith('on') || name === 'srcdoc') return 'nowhere'
    if (name === 'style') {
      if (otherwise === 'bare-attribute') return 'nowhere'
      return /url\(\s*["']?$/i.test(before) ? 'style-address' : 'style'
    }
    if (animatingElements.has(this.#tag) && animatedValues.has(name)) return 'nowhere'
    if (!addressAttributes.has(name)) return otherwise
    if (otherwise === 'bare-attribute' || loadingElements.has(this.#tag)) return 'nowhere'
    const start = before.trimStart()
    if (start === '') return 'address'
    // A value within a script is decoded before it runs, whatever was encoded.
    const [, scheme = ''] = /^([a-z][a-z0-9+.\t\r\n-]*):/i.exec(start) ?? []
    const isWeb = scheme === '' || /^(https?|mailto|tel|sms)$/i.test(scheme)
    const mayBecomeScheme = scheme === '' && /^[a-z0-9+.\s-]*$/i.test(start)
    return isWeb && !mayBecomeScheme ? 'address-part' : 'nowhere'
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
          this.#state = 'quoted'
        } else if (!isSpace(character)) {
          this.#value = character
          this.#state = 'bare'
        }
        return
      case 'quoted':
        if (character === this.#quote) this.#state = 'tag'
        else this.#value += character
        return
      case 'bare':
        if (character === '>') this.#closeTag()
        else if (isSpace(character)) this.#state = 'tag'
        else this.#value += character
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
      this.#tail = ''
      this.#hasMarkup = false
      this.#state = 'raw'
    } else this.#state = 'text'
  }
}
