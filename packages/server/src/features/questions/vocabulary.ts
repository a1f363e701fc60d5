import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { type Country, countries, countryForms } from './countries.ts'
import {
  type DimensionWords,
  dimensionWords,
  fixedWords,
  type Marker,
  type MeasureWords,
  measureWords,
  type NamedRange,
  type Phrases,
  type Shift,
  type Unit,
  valueWords,
} from './lexicon.ts'
import { formOf, formsOfName, type Word } from './words.ts'

export type MeasureSense = Pick<MeasureWords, 'ids' | 'beside' | 'events' | 'weak'>
export type DimensionSense = Pick<DimensionWords, 'name' | 'ids' | 'ofSessions' | 'counts'>

export interface ValueSense {
  readonly dimension: string
  readonly values: readonly string[]
  readonly country?: Country
  /** Only where it is written so: a code of a country is another word in small letters. */
  readonly written?: string
}

/** Kinds of meanings, with what a phrase means of each. */
export interface Senses {
  readonly measure: MeasureSense
  readonly dimension: DimensionSense
  readonly value: ValueSense
  readonly unit: Unit
  readonly granularity: Unit | 'auto'
  readonly marker: Marker
  readonly named: NamedRange
  readonly shift: Shift
  readonly month: number
  readonly number: number
  readonly ordinal: number
  readonly quarter: number
  readonly halfNumber: number
  readonly half: true
  readonly date: string
  readonly unanswered: true
  readonly ignored: true
}

/** What a phrase can mean; one may have several meanings, of which the sentence decides. */
export type Meaning = {
  readonly [K in keyof Senses]: { readonly kind: K; readonly sense: Senses[K] }
}[keyof Senses]

/** A phrase that was found, or one word that no phrase holds: then it has no meaning. */
export interface Term {
  readonly words: readonly Word[]
  readonly meanings: readonly Meaning[]
}

interface Node {
  readonly next: Map<string, Node>
  readonly meanings: Meaning[]
}

const newNode = (): Node => ({ next: new Map(), meanings: [] })

export interface Vocabulary {
  /** Divides words into the longest phrases that are known, from the beginning on. */
  termsOf(words: readonly Word[]): Term[]
  /** The dimension of a name in the lexicon, or of a label by its id. */
  findDimension(name: string): DimensionSense | undefined
  /** The dimension that has this member among those that it can mean. */
  dimensionOf(memberId: string): DimensionSense | undefined
}

function add(root: Node, forms: readonly string[], meaning: Meaning): void {
  let node = root
  for (const form of forms) {
    const next = node.next.get(form) ?? newNode()
    node.next.set(form, next)
    node = next
  }
  node.meanings.push(meaning)
}

/** The forms of a phrase of the lexicon. */
function formsOf(phrase: string): string[] {
  return /^[=&-]$/.test(phrase) ? [phrase] : formsOfName(phrase)
}

function addPhrases(root: Node, phrases: Phrases, meaning: Meaning): void {
  const seen = new Set<string>()
  for (const phrase of [...phrases.en, ...phrases.fr]) {
    const forms = formsOf(phrase)
    const key = forms.join(' ')
    if (key === '' || seen.has(key)) continue
    seen.add(key)
    add(root, forms, meaning)
  }
}

/** All words that are the same for every company. */
function addFixed(root: Node): void {
  for (const [kind, phrasesBySense] of Object.entries(fixedWords)) {
    for (const [name, phrases] of Object.entries<Phrases>(phrasesBySense)) {
      addPhrases(root, phrases, { kind, sense: /^\d/.test(name) ? Number(name) : name } as Meaning)
    }
  }
  for (const [forms, country] of countryForms()) {
    add(root, forms, { kind: 'value', sense: { dimension: 'country', values: [country.code], country } })
  }
  for (const country of countries) {
    const { code } = country
    const sense = { dimension: 'country', values: [code], country, written: code }
    add(root, [formOf(code)], { kind: 'value', sense })
  }
}

/** The first meaning of a kind. */
export function senseOf<K extends keyof Senses>(
  meanings: readonly Meaning[] | undefined,
  kind: K,
): Senses[K] | undefined {
  return meanings?.find((each) => each.kind === kind)?.sense as Senses[K] | undefined
}

function find(root: Node, forms: readonly string[]): Node | undefined {
  let node: Node | undefined = root
  for (const form of forms) node = node?.next.get(form)
  return node
}

/** The measures of a company: those of the lexicon that it has, and all others by their titles. */
function addMeasures(root: Node, measures: StatisticsMeta['measures']): void {
  const isKnown = (id: string) => Object.hasOwn(measures, id)
  for (const words of measureWords) {
    const ids = words.ids.filter(isKnown)
    const beside = words.beside?.filter(isKnown) ?? []
    if (ids.length === 0 && beside.length === 0) continue
    addPhrases(root, words, { kind: 'measure', sense: { ...words, ids, beside } })
  }
  for (const [id, { title }] of Object.entries(measures)) {
    const forms = formsOfName(title)
    if (forms.length > 0 && !senseOf(find(root, forms)?.meanings, 'measure')) {
      add(root, forms, { kind: 'measure', sense: { ids: [id] } })
    }
  }
}

/** The dimensions of a company, its labels included: one that is named as another belongs to that one. */
function addDimensions(root: Node, meta: StatisticsMeta): Map<string, DimensionSense> {
  const senses = new Map<
    string,
    { name: string; ids: string[]; ofSessions?: true; counts: readonly string[] }
  >()
  const placed = new Set<string>()
  for (const words of dimensionWords) {
    const ids = words.ids.filter((id) => Object.hasOwn(meta.dimensions, id))
    const sense = { ...words, ids }
    senses.set(words.name, sense)
    for (const id of ids) placed.add(id)
    addPhrases(root, words, { kind: 'dimension', sense })
  }
  for (const [id, { title, source, type, filterOnly }] of Object.entries(meta.dimensions)) {
    if (type === 'time' || filterOnly || placed.has(id)) continue
    const names = [formsOfName(title), [formOf(title)]].filter((forms) => forms.length > 0)
    const known = names.flatMap((forms) => senseOf(find(root, forms)?.meanings, 'dimension') ?? [])
    const sense = known[0] && senses.get(known[0].name)
    if (sense) sense.ids.push(id)
    else {
      const counts = source === 'purchases' ? ['purchases.revenue'] : [`${source}.count`]
      const own = { name: id, ids: [id], counts }
      senses.set(id, own)
      for (const forms of new Map(names.map((each) => [each.join(' '), each])).values())
        add(root, forms, { kind: 'dimension', sense: own })
    }
  }
  return senses
}

function addValues(root: Node, senses: ReadonlyMap<string, DimensionSense>): void {
  for (const words of valueWords) {
    if (senses.get(words.dimension)?.ids.length) addPhrases(root, words, { kind: 'value', sense: words })
  }
}

/** Words that mean something by their own form. */
const forms = [
  [/^(\d{1,9})$/, (found) => ({ kind: 'number', sense: Number(found) })],
  [/^[qt]([1-4])$/, (found) => ({ kind: 'quarter', sense: Number(found) })],
  [/^[hs]([12])$/, (found) => ({ kind: 'halfNumber', sense: Number(found) })],
  [/^(\d{1,2})(?:st|nd|rd|th|er|re|e|eme|ere)$/, (found) => ({ kind: 'ordinal', sense: Number(found) })],
  [
    /^(\d{4}-\d{2}(?:-\d{2})?|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d{1,2}\/\d{4})$/,
    (sense) => ({ kind: 'date', sense }),
  ],
] as const satisfies readonly (readonly [RegExp, (found: string) => Meaning])[]

function meaningsOfForm(form: string): Meaning[] {
  return forms.flatMap(([pattern, meaning]) => {
    const found = pattern.exec(form)?.[1]
    return found === undefined ? [] : [meaning(found)]
  })
}

const remembered = new WeakMap<StatisticsMeta, Vocabulary>()

/** The words that a company's questions may use; made once for each description of its statistics. */
export function vocabularyOf(meta: StatisticsMeta): Vocabulary {
  const known = remembered.get(meta)
  if (known) return known
  const vocabulary = createVocabulary(meta)
  remembered.set(meta, vocabulary)
  return vocabulary
}

function createVocabulary(meta: StatisticsMeta): Vocabulary {
  const root = newNode()
  addFixed(root)
  addMeasures(root, meta.measures)
  const senses = addDimensions(root, meta)
  addValues(root, senses)

  function longest(words: readonly Word[], from: number, isCapital: boolean): Term {
    let node: Node | undefined = root
    let found: Term | undefined
    for (let to = from; to < words.length; to++) {
      const word = words[to]
      node = word?.kind === 'word' ? node?.next.get(word.form) : undefined
      if (!node) break
      if (node.meanings.length > 0) {
        found = { words: words.slice(from, to + 1), meanings: node.meanings }
      }
    }
    const single = words.slice(from, from + 1)
    const own = meaningsOfForm(single[0]?.form ?? '')
    if (found && found.words.length > 1) return found
    const known = (found?.meanings ?? []).filter(
      (each) =>
        each.kind !== 'value' ||
        each.sense.written === undefined ||
        (each.sense.written === single[0]?.text && !isCapital),
    )
    return { words: single, meanings: [...own, ...known] }
  }

  return {
    termsOf(words) {
      const terms: Term[] = []
      // Of a question in capitals nothing follows from the capitals of a word.
      const isCapital = words.every(({ text }) => text === text.toUpperCase())
      for (let at = 0; at < words.length; ) {
        const term = longest(words, at, isCapital)
        terms.push(term)
        at += term.words.length
      }
      return terms
    },
    findDimension: (name) => senses.get(name),
    dimensionOf: (memberId) => [...senses.values()].find(({ ids }) => ids.includes(memberId)),
  }
}
