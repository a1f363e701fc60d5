import type { AskedFilter, SlotCollector } from './slots.ts'
import type { Terms } from './terms.ts'
import type { DimensionSense, Meaning, Vocabulary } from './vocabulary.ts'
import { foldedOf, formOf, type Word } from './words.ts'

const maxWords = 6

const isOnlyNumber = (meanings: readonly Meaning[]) =>
  meanings.every(({ kind }) => kind === 'number' || kind === 'ordinal' || kind === 'date')

function textOf(words: readonly Word[]): string {
  let text = ''
  for (const [i, word] of words.entries()) {
    const before = words[i - 1]
    if (before) text += word.start > before.end ? (word.joined ? '-' : ' ') : ''
    text += word.text
  }
  return text
}

/** The rules that read values of dimensions, which become filters. */
export function createValueRules(terms: Terms, vocabulary: Vocabulary, slots: SlotCollector) {
  const { meaning, is } = terms
  const wordAt = (place: number) => terms.at(place)?.words[0]

  function addFilter(
    filter: Omit<AskedFilter, 'start' | 'end' | 'negated'>,
    from: number,
    to: number,
  ): number {
    slots.addFilter({ negated: slots.asked.negated, ...filter, ...slots.placeOf(from, to) })
    return to
  }

  /** Words in a row that nothing else claims, from a place on; a joined word belongs to the one before. */
  function freeWords(from: number, isFree: (meanings: readonly Meaning[], isFirst: boolean) => boolean) {
    const words: Word[] = []
    let next = from
    for (; words.length < maxWords; next++) {
      const term = terms.at(next)
      const first = term?.words[0]
      if (first?.kind !== 'word') break
      const isFirst = words.length === 0
      if (!isFree(term?.meanings ?? [], isFirst) && !(first.joined && !isFirst)) break
      words.push(...(term?.words ?? []))
    }
    return { words, next }
  }

  /** One value of a dimension that is named: quoted, a known one, or words that mean nothing else. */
  function readValue(place: number, dimension: DimensionSense, isNamed: boolean) {
    const word = wordAt(place)
    if (word?.kind === 'quoted') return { values: [word.text], names: [word.text], next: place + 1 }
    const known = terms
      .at(place)
      ?.meanings.find((each) => each.kind === 'value' && each.sense.dimension === dimension.name)
    if (known?.kind === 'value') {
      const { values, country } = known.sense
      return { values, names: country ? [...country.names, country.code] : values, next: place + 1 }
    }
    if (!isNamed) return undefined
    // A number may be a value, alone or as a part: "store 12", "SKU-12".
    const { words, next } = freeWords(
      place,
      (meanings, isFirst) => meanings.length === 0 || (isFirst && isOnlyNumber(meanings)),
    )
    const text = textOf(words)
    return text === '' ? undefined : { values: [text], names: [text], next }
  }

  /** "country is France or Germany", "product 'A B'", "device mobile". */
  function readValueBehind(place: number, dimension: DimensionSense, isGrouped = true): number | undefined {
    let next = place + 1
    let { negated } = slots.asked
    let isNamed = false
    for (; is(next, 'not', 'equals'); next++) {
      negated ||= is(next, 'not')
      isNamed = true
    }
    const written = terms.at(place)?.words.at(-1)
    // Of a plural rows are asked for and not one value.
    const isSingular = written !== undefined && formOf(written.text) === foldedOf(written.text)
    const first = readValue(next, dimension, isNamed || (!isGrouped && isSingular))
    if (!first) return undefined
    const found = [first]
    next = first.next
    while (is(next, 'and') || wordAt(next)?.text === ',') {
      const isQuoted = wordAt(next + 1)?.kind === 'quoted'
      const further = readValue(next + 1, dimension, isNamed && isQuoted)
      if (!further) break
      found.push(further)
      next = further.next
    }
    const values = found.flatMap((each) => each.values)
    const names = found.flatMap((each) => each.names)
    slots.addFilter({ dimension, values, names, negated, ...slots.placeOf(place, next) })
    return next
  }

  /** A known value: "mobile", "France", "new". */
  function readKnownValue(place: number): number | undefined {
    const value = meaning(place, 'value')
    const dimension = value && vocabulary.findDimension(value.dimension)
    if (!value || !dimension?.ids.length) return undefined
    const { values, country } = value
    const names = country && [...country.names, country.code]
    return addFilter({ dimension, values, ...(names && { names }) }, place, place + 1)
  }

  /** "/checkout": no other dimension has such values. */
  function readPath(place: number): number | undefined {
    const word = wordAt(place)
    const dimension = vocabulary.findDimension('page')
    if (word?.kind !== 'word' || !word.text.startsWith('/') || !dimension?.ids.length) return undefined
    return addFilter({ dimension, values: [word.text], names: [word.text] }, place, place + 1)
  }

  /** Words that no rule reads: the name of an event, where they are written so, else a value of any dimension. */
  function readLoose(place: number): number {
    const quoted = wordAt(place)
    const { words, next } =
      quoted?.kind === 'quoted'
        ? { words: [quoted], next: place + 1 }
        : freeWords(place, (meanings) => meanings.length === 0)
    const dimension = meaning(next, 'dimension')
    const isEvent = words.some(({ kind, text }) => kind === 'quoted' || text.includes('_'))
    if (dimension?.name === 'event' && isEvent) {
      const names = [textOf(words)]
      return addFilter({ dimension, values: names, names }, place, next)
    }
    const { negated } = slots.asked
    slots.addLoose({ text: textOf(words), words, negated, ...slots.placeOf(place, next) })
    return next
  }

  return { readValueBehind, readKnownValue, readPath, readLoose }
}
