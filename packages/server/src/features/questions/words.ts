/** A piece of a question: a word, or a text between quotation marks. */
export interface Word {
  readonly kind: 'word' | 'quoted' | 'break'
  /** As it was written, a quoted one without its marks. */
  readonly text: string
  /** The form in which the vocabulary knows it: lower case, without accents, singular. */
  readonly form: string
  /** Where it stands in the question, in UTF-16 units, quotation marks included. */
  readonly start: number
  readonly end: number
  /** Whether nothing stands between the word before and this one but a hyphen or an apostrophe. */
  readonly joined: boolean
}

/** Longer questions are refused by the contract; this bounds what a rule can be given. */
export const maxQuestionLength = 2_000

const closingMarks: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['“', '”'],
  ['”', '”'],
  ['«', '»'],
  ['`', '`'],
  ['‘', '’'],
])

const isSpace = (character: string) => /\s/.test(character)
/** What separates clauses; a value does not reach over it. */
const breaks = new Set([',', ';', '?', '!', '(', ')', '[', ']', '{', '}', '…', '|', '<', '>'])
const dashes = new Set(['–', '—'])
const apostrophes = new Set(["'", '’', 'ʼ'])

/** Words that end like a plural and are none. */
const invariable = new Set(
  'mois fois plus moins pays gps dns ios os sms css aws vs cms news series this last has was as is us bus corps temps cours depuis dans sans hors apres pres tres alors avis prix voix choix mars versus less across always besides plus six dix deux'.split(
    ' ',
  ),
)

/** A text without its accents, in small letters. */
export const foldedOf = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()

/**
 * The form of a word in the vocabulary, of plural and singular the same. It only has to be the same for the same word:
 * both the vocabulary and the question pass through it.
 */
export function formOf(word: string): string {
  // "where", of which only the accent tells that it is not "or".
  if (word.normalize('NFC').toLowerCase() === 'où') return 'où'
  const plain = foldedOf(word).replaceAll('œ', 'oe').replaceAll('æ', 'ae').replaceAll('ß', 'ss')
  if (plain.length < 4 || invariable.has(plain) || !/^[a-z]+$/.test(plain)) return plain
  if (plain.endsWith('ies')) return `${plain.slice(0, -3)}y`
  if (plain.endsWith('sses') || plain.endsWith('xes') || plain.endsWith('ches')) return plain.slice(0, -2)
  if (plain.endsWith('eaux')) return plain.slice(0, -1)
  if (plain.endsWith('aux')) return `${plain.slice(0, -3)}al`
  if (plain.endsWith('ss') || plain.endsWith('us') || plain.endsWith('is')) return plain
  return plain.endsWith('s') ? plain.slice(0, -1) : plain
}

/** Text that is one value whatever is inside it: an address, a path, a key, a code, a date with slashes. */
const isWhole = (chunk: string) => /[/_@:=&#+*\\%]|\.[\p{L}\p{N}]/u.test(chunk)

const isoDate = /^\d{4}-\d{2}(?:-\d{2})?$/

/** Reads a question into words, in one pass. */
export function wordsOf(question: string): Word[] {
  const text = question.slice(0, maxQuestionLength)
  const words: Word[] = []
  const nextOf = closingPlaces(text)
  let at = 0
  while (at < text.length) {
    const character = text[at] ?? ''
    if (isSpace(character)) {
      at++
      continue
    }
    const closing = nextOf(at)
    if (closing !== undefined && closing > at + 1) {
      const inner = text.slice(at + 1, closing).trim()
      if (inner !== '') {
        words.push({ kind: 'quoted', text: inner, form: '', start: at, end: closing + 1, joined: false })
      }
      at = closing + 1
      continue
    }
    if (breaks.has(character)) {
      words.push({ kind: 'break', text: character, form: '', start: at, end: at + 1, joined: false })
      at++
      continue
    }
    let end = at + 1
    while (end < text.length && !endsChunk(text[end] ?? '')) end++
    pushChunk(words, text.slice(at, end), at)
    at = end
  }
  return words
}

function endsChunk(character: string): boolean {
  return isSpace(character) || breaks.has(character) || (closingMarks.has(character) && character !== '’')
}

/** For each place with an opening quotation mark the place of its closing one. */
function closingPlaces(text: string): (at: number) => number | undefined {
  // From the end, so that each mark knows the next closing one without a search.
  const places = new Map<number, number>()
  const next = new Map<string, number>()
  for (let at = text.length - 1; at >= 0; at--) {
    const character = text[at] ?? ''
    const closing = closingMarks.get(character)
    const found = closing === undefined ? undefined : next.get(closing)
    if (found !== undefined) places.set(at, found)
    // A straight apostrophe opens at the beginning of a word and closes at the end of one.
    if (character === "'") {
      const isOpening = at === 0 || isSpace(text[at - 1] ?? '')
      const place = next.get("'")
      if (isOpening && place !== undefined) places.set(at, place)
      if (at + 1 === text.length || /[\s,;?!.)]/.test(text[at + 1] ?? '')) next.set("'", at)
    } else next.set(character, at)
  }
  return (at) => places.get(at)
}

/** The words of what stands between spaces. */
function pushChunk(words: Word[], chunk: string, start: number): void {
  if (chunk === '-' || dashes.has(chunk)) {
    words.push({ kind: 'word', text: chunk, form: '-', start, end: start + chunk.length, joined: false })
    return
  }
  const trailing = /[.:]+$/.exec(chunk.slice(-4))?.[0].length ?? 0
  const core = chunk.slice(0, chunk.length - trailing)
  if (core !== '') {
    if (isWhole(core) || isoDate.test(core)) push(words, core, start, false)
    else pushParts(words, core, start)
  }
  if (trailing > 0) {
    const place = start + core.length
    words.push({ kind: 'break', text: '.', form: '', start: place, end: start + chunk.length, joined: false })
  }
}

function pushParts(words: Word[], chunk: string, start: number): void {
  let from = 0
  let joined = false
  for (let at = 0; at <= chunk.length; at++) {
    const character = chunk[at] ?? ''
    const isHyphen = character === '-' || dashes.has(character)
    if (at < chunk.length && !isHyphen && !apostrophes.has(character)) continue
    const part = chunk.slice(from, at)
    if (part !== '') {
      push(words, part, start + from, joined)
      joined = true
    }
    // Between numbers a hyphen means up to, as a long dash always does.
    const isRange =
      dashes.has(character) || (isHyphen && /\d$/.test(part) && /^\d/.test(chunk.slice(at + 1, at + 2)))
    if (isRange) {
      words.push({
        kind: 'word',
        text: character,
        form: '-',
        start: start + at,
        end: start + at + 1,
        joined: true,
      })
    }
    from = at + 1
  }
}

function push(words: Word[], text: string, start: number, joined: boolean): void {
  words.push({ kind: 'word', text, form: formOf(text), start, end: start + text.length, joined })
}

/** The words of a name such as `storeName`, `store_name` or `Average order value`. */
export function formsOfName(name: string): string[] {
  const spaced = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
  return spaced.split(/[^\p{L}\p{M}\p{N}]+/u).flatMap((word) => (word === '' ? [] : [formOf(word)]))
}
