import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { type Country, countries, countryForms } from './countries.ts'
import {
  comparisonWords,
  type DimensionWords,
  dimensionWords,
  granularityWords,
  halfWords,
  ignoredWords,
  type Marker,
  type MeasureWords,
  markerWords,
  measureWords,
  monthWords,
  type NamedRange,
  namedRanges,
  numberWords,
  ordinalWords,
  type Unit,
  unansweredWords,
  unitWords,
  valueWords,
} from './lexicon.ts'
import { formOf, formsOfName, type Word } from './words.ts'

export type MeasureSense = Pick<MeasureWords, 'ids' | 'beside' | 'events' | 'weak'>
export type DimensionSense = Pick<DimensionWords, 'name' | 'ids' | 'ofSessions' | 'counts'>

/** What a phrase can mean; one may have several meanings, of which the sentence decides. */
export type Meaning =
  | { readonly kind: 'measure'; readonly measure: MeasureSense }
  | { readonly kind: 'dimension'; readonly dimension: DimensionSense }
  | {
      readonly kind: 'value'
      readonly dimension: string
      readonly values: readonly string[]
      readonly country?: Country
      /** Only where it is written so: a code of a country is another word in small letters. */
      readonly written?: string
    }
  | { readonly kind: 'unit'; readonly unit: Unit }
  | { readonly kind: 'granularity'; readonly unit: Unit | 'auto' }
  | { readonly kind: 'marker'; readonly marker: Marker }
  | { readonly kind: 'named'; readonly range: NamedRange }
  | { readonly kind: 'shift'; readonly by: keyof typeof comparisonWords }
  | { readonly kind: 'month'; readonly month: number }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'ordinal'; readonly value: number }
  | { readonly kind: 'quarter'; readonly quarter: number }
  | { readonly kind: 'halfNumber'; readonly half: number }
  | { readonly kind: 'half' }
  | { readonly kind: 'date'; readonly text: string }
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'ignored' }

export type MeaningOf<K extends Meaning['kind']> = Extract<Meaning, { kind: K }>

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

const languages = ['en', 'fr'] as const

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

type Phrases = Readonly<Record<(typeof languages)[number], readonly string[]>>

function addPhrases(root: Node, phrases: Phrases, meaning: Meaning): void {
  const seen = new Set<string>()
  for (const phrase of languages.flatMap((language) => phrases[language])) {
    const forms = formsOf(phrase)
    const key = forms.join(' ')
    if (key === '' || seen.has(key)) continue
    seen.add(key)
    add(root, forms, meaning)
  }
}

/** All words that are the same for every company. */
function addFixed(root: Node): void {
  const entries = <K extends string, V>(record: Readonly<Record<K, V>>) => Object.entries(record) as [K, V][]
  for (const [unit, phrases] of entries(unitWords)) addPhrases(root, phrases, { kind: 'unit', unit })
  for (const [unit, phrases] of entries(granularityWords))
    addPhrases(root, phrases, { kind: 'granularity', unit })
  for (const [marker, phrases] of entries<Marker, Phrases>(markerWords))
    addPhrases(root, phrases, { kind: 'marker', marker })
  for (const [range, phrases] of entries<NamedRange, Phrases>(namedRanges))
    addPhrases(root, phrases, { kind: 'named', range })
  for (const [by, phrases] of entries(comparisonWords)) addPhrases(root, phrases, { kind: 'shift', by })
  for (const [i, phrases] of monthWords.entries()) addPhrases(root, phrases, { kind: 'month', month: i + 1 })
  for (const [value, phrases] of numberWords) addPhrases(root, phrases, { kind: 'number', value })
  for (const [value, phrases] of ordinalWords) addPhrases(root, phrases, { kind: 'ordinal', value })
  addPhrases(root, halfWords, { kind: 'half' })
  addPhrases(root, unansweredWords, { kind: 'unanswered' })
  addPhrases(root, ignoredWords, { kind: 'ignored' })
  for (const [forms, country] of countryForms()) {
    add(root, forms, { kind: 'value', dimension: 'country', values: [country.code], country })
  }
  for (const country of countries) {
    const { code } = country
    const value = { kind: 'value', dimension: 'country', values: [code], country, written: code } as const
    add(root, [formOf(code)], value)
  }
}

function has<K extends Meaning['kind']>(node: Node | undefined, kind: K): MeaningOf<K> | undefined {
  return node?.meanings.find((each): each is MeaningOf<K> => each.kind === kind)
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
    addPhrases(root, words, { kind: 'measure', measure: { ...words, ids, beside } })
  }
  for (const [id, { title }] of Object.entries(measures)) {
    const forms = formsOfName(title)
    if (forms.length > 0 && !has(find(root, forms), 'measure')) {
      add(root, forms, { kind: 'measure', measure: { ids: [id] } })
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
    addPhrases(root, words, { kind: 'dimension', dimension: sense })
  }
  for (const [id, { title, source, type, filterOnly }] of Object.entries(meta.dimensions)) {
    if (type === 'time' || filterOnly || placed.has(id)) continue
    const names = [formsOfName(title), [formOf(title)]].filter((forms) => forms.length > 0)
    const known = names.map((forms) => has(find(root, forms), 'dimension')).find((each) => each !== undefined)
    const sense = known && senses.get(known.dimension.name)
    if (sense) sense.ids.push(id)
    else {
      const counts = source === 'purchases' ? ['purchases.revenue'] : [`${source}.count`]
      const own = { name: id, ids: [id], counts }
      senses.set(id, own)
      for (const forms of new Map(names.map((each) => [each.join(' '), each])).values())
        add(root, forms, { kind: 'dimension', dimension: own })
    }
  }
  return senses
}

function addValues(root: Node, senses: ReadonlyMap<string, DimensionSense>): void {
  for (const words of valueWords) {
    const { dimension, values } = words
    if (senses.get(dimension)?.ids.length) addPhrases(root, words, { kind: 'value', dimension, values })
  }
}

const quarterForm = /^[qt]([1-4])$/
const halfForm = /^[hs]([12])$/
const ordinalForm = /^(\d{1,2})(?:st|nd|rd|th|er|re|e|eme|ere)$/
const dateForm = /^(?:\d{4}-\d{2}(?:-\d{2})?|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d{1,2}\/\d{4})$/

/** What a word means by its own form. */
function meaningsOfForm(form: string): Meaning[] {
  if (/^\d{1,9}$/.test(form)) return [{ kind: 'number', value: Number(form) }]
  const quarter = quarterForm.exec(form)
  if (quarter) return [{ kind: 'quarter', quarter: Number(quarter[1]) }]
  const half = halfForm.exec(form)
  if (half) return [{ kind: 'halfNumber', half: Number(half[1]) }]
  const ordinal = ordinalForm.exec(form)
  if (ordinal) return [{ kind: 'ordinal', value: Number(ordinal[1]) }]
  return dateForm.test(form) ? [{ kind: 'date', text: form }] : []
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
        each.written === undefined ||
        (each.written === single[0]?.text && !isCapital),
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
