/** A part of a text that tells a number, a date or an order. */
export interface NumberToken {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Words for numbers, ordinals, fractions and multiples. French `un` and `une` are articles and tell nothing. */
const numberWords = [
  // English
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen',
  'eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion',
  'hundreds thousands millions billions trillions dozen dozens first second third thirds fourth fourths fifth fifths',
  'sixth seventh eighth ninth tenth tenths eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth',
  'eighteenth nineteenth twentieth thirtieth fortieth fiftieth hundredth hundredths thousandth half halves halved',
  'halving twice thrice double doubled doubles doubling triple tripled triples tripling treble trebled quadruple',
  'quadrupled quintuple tenfold twofold threefold fourfold fivefold hundredfold percent percentage',
  // French
  'zéro deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt vingts trente',
  'quarante cinquante soixante septante huitante octante nonante cent cents mille milliers millier millions milliard',
  'milliards douzaine dizaine dizaines centaine centaines quinzaine vingtaine premier première premiers premières',
  'seconde deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième treizième',
  'quatorzième quinzième seizième vingtième trentième centième millième moitié demi demie demis demies tiers quart',
  'quarts doublé doublée doublés doublées doublent triplé triplée triplés triplées triplent quadruplé quadruplée',
  'décuplé décuplée centuple pourcent',
].flatMap((line) => line.split(' '))

/** Words for months and days of the week: dates without a digit. `may` and `march` are verbs unless written large. */
const dateWords = [
  'january february april june july august september october november december',
  'jan feb apr jun jul aug sept sep oct nov dec',
  'monday tuesday wednesday thursday friday saturday sunday',
  'mondays tuesdays wednesdays thursdays fridays saturdays sundays',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'janv févr avr juil déc',
  'lundi mardi mercredi jeudi vendredi samedi dimanche lundis mardis mercredis jeudis vendredis samedis dimanches',
].flatMap((line) => line.split(' '))

const words: ReadonlySet<string> = new Set([...numberWords, ...dateWords])
const capitalWords: ReadonlySet<string> = new Set(['May', 'March', 'MAY', 'MARCH'])

/**
 * Digits and numerals of any script with the signs between and around them, percent and permille signs, numerals that
 * Unicode counts as letters, and words. Every alternative begins with another kind of character, so the time is linear.
 */
const parts =
  /[\p{N}〇一二三四五六七八九十百千万萬億亿兆][[\p{N}\p{M}]〇一二三四五六七八九十百千万萬億亿兆]*|[%‰‱٪﹪％]|[\p{L}--[〇一二三四五六七八九十百千万萬億亿兆]][[\p{L}\p{M}]--[〇一二三四五六七八九十百千万萬億亿兆]]*/gv

/** Characters that are not seen, by which a number could be hidden in a text or a text reordered. */
const invisible = /[\p{Cf}\p{Cc}\u115F\u1160\u3164\uFFA0]/gu

/** The numbers, dates and orders that a text tells, in digits of any script and in English and French words. */
export function findNumberTokens(text: string): NumberToken[] {
  const found: NumberToken[] = []
  for (const match of text.matchAll(parts)) {
    const part = match[0]
    if (!/^\p{L}/u.test(part) || numerals.test(part) || tellsNumber(part)) {
      found.push({ start: match.index, end: match.index + part.length, text: part })
    }
  }
  for (const match of text.matchAll(invisible)) {
    found.push({ start: match.index, end: match.index + match[0].length, text: match[0] })
  }
  return found.sort((a, b) => a.start - b.start)
}

const numerals = /^[〇一二三四五六七八九十百千万萬億亿兆]/u

/** Letters that look like Latin ones are read as those by the compatibility forms of Unicode. */
function tellsNumber(word: string): boolean {
  const plain = word.normalize('NFKC')
  return capitalWords.has(plain) || words.has(plain.toLowerCase())
}
