import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import { createNameRegister } from '../formats/csv-reader.ts'
import type { RawRow } from '../formats/source-options.ts'
import { booleanWords } from './booleans.ts'
import { type Column, columnsOf } from './columns.ts'
import { dateForm, readEpoch } from './date-text.ts'
import { fieldName, wordsOf } from './field-names.ts'
import { type FieldLocale, type FieldType, primitiveOfType } from './field-types.ts'
import { currencyLanguage, dateLanguage, detectLanguage, headingLanguage } from './languages.ts'
import { decimalMarkOf, type NumberForm, numberForm, readNumber } from './number-text.ts'
import {
  type ColumnFacts,
  isIdentifierName,
  isProductId,
  isReferenceListName,
  isTimeName,
  referenceRank,
  typeByRules,
} from './type-rules.ts'

export interface AnalyzeOptions {
  /** Index of the source whose entries these are: the key of their rules. */
  readonly source?: number
  /** Of a CSV file: with semicolons, a comma in a number is a decimal mark. */
  readonly csvDelimiter?: string
}

/** Values of all columns together that are looked at; of more, every second, third … row. */
const maxValues = 1_000_000

/** Characters of a value that are looked at: patterns of more could take their time. */
const maxTextLength = 300

/** The share of values that must be of a kind: what is left are typing errors, which the import reports. */
const kindShare = 0.98

/** What is known of a column before all of them are seen together. */
interface Draft {
  readonly column: Column
  readonly words: string
  readonly texts: readonly string[]
  readonly numbers: readonly NumberForm[] | undefined
  readonly isBoolean: boolean
  readonly hasDates: boolean
  /** Languages that its values show. */
  readonly language: FieldLocale | undefined
}

interface Typed {
  readonly type: FieldType
  readonly locale?: FieldLocale | undefined
  readonly separator?: string
}

/**
 * Proposes one field for each value that entries have: pure and deterministic, the same for equal rows. Fields are in
 * the order in which their values are met.
 */
export function analyzeRows(sample: readonly RawRow[], options: AnalyzeOptions = {}): DatasourceField[] {
  const rows = thinned(sample)
  const drafts = columnsOf(rows).map(draftOf)
  const language = languageOf(drafts)
  const mark = decimalMark(drafts, language, options)
  const typed = drafts.map((draft) => typeOf(draft, language, mark))
  const reference = referenceColumn(drafts, typed, rows.length)
  const register = createNameRegister()
  return drafts.map((draft, index): DatasourceField => {
    const { column } = draft
    const { type, locale, separator } =
      index === reference ? { type: 'reference_id' as const } : (typed[index] as Typed)
    return {
      name: register(fieldName(column.names.map(withoutPrefix).join(' '), `field_${index + 1}`)),
      type,
      selected: false,
      primitive: primitiveOfType[type],
      rulesPerSources: {
        [String(options.source ?? 0)]: [
          { name: 'path', params: { value: column.path } },
          ...(separator === undefined ? [] : [{ name: 'split', params: { separator } }]),
        ],
      },
      source: 'user',
      ignoreIfMissing: column.missing > 0,
      metadata: locale === undefined ? {} : { locale },
    }
  })
}

/** `g:price` is `price`. */
function withoutPrefix(name: string): string {
  return name.replace(/^@?\w+:(?=\w)/, '')
}

/** Every n-th row, so that a table of many columns takes no longer than a long one. */
function thinned(rows: readonly RawRow[]): readonly RawRow[] {
  const values = rows.reduce((sum, row) => sum + Object.keys(row).length, 0)
  const step = Math.ceil(values / maxValues)
  return step <= 1 ? rows : rows.filter((_, index) => index % step === 0)
}

function draftOf(column: Column): Draft {
  const words = wordsOf(column.names.map(withoutPrefix).join(' '))
  const values = column.kind === 'single' ? column.values : []
  const texts = values.map((value) => String(value).slice(0, maxTextLength))
  const isBoolean =
    values.length > 0 &&
    (values.every((value) => typeof value === 'boolean') || hasBooleanWords(texts, words))
  const forms = isBoolean
    ? []
    : texts.map(numberForm).filter((form): form is NumberForm => form !== undefined)
  const hasNumbers = values.length > 0 && forms.length >= texts.length * kindShare
  const hasDates =
    !isBoolean &&
    values.length > 0 &&
    texts.filter((text) => isDateText(text, words)).length >= texts.length * kindShare
  return {
    column,
    words,
    texts,
    isBoolean,
    hasDates,
    numbers: hasNumbers ? forms : undefined,
    language: isBoolean
      ? booleanWords(distinctOf(texts))?.locale
      : hasNumbers || hasDates
        ? currencyLanguage(forms.find(({ currency }) => currency !== undefined)?.currency)
        : isProse(texts)
          ? detectLanguage(texts)
          : undefined,
  }
}

function distinctOf(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

function hasBooleanWords(texts: readonly string[], words: string): boolean {
  const distinct = new Set<string>()
  for (const text of texts) {
    distinct.add(text.trim().toLowerCase())
    if (distinct.size > 2) return false
  }
  if (booleanWords([...distinct]) === undefined) return false
  // A column of ones and zeros may count: its name decides.
  const isDigits = [...distinct].every((text) => text === '0' || text === '1')
  return (
    !isDigits ||
    /^(is|has|in|can|use|show)( |$)|(^| )(active|enabled|available|availability|flag|visible|deleted|newsletter|optin|opt in|subscribed|stock status|aktiv|actif|activo|ativo|actief)$/.test(
      words,
    )
  )
}

function isDateText(text: string, words: string): boolean {
  if (/^\d+(\.\d+)?$/.test(text)) {
    if (!isTimeName(words)) return false
    return /^\d{8}$/.test(text) ? dateForm(text) !== undefined : readEpoch(Number(text)) !== undefined
  }
  return dateForm(text) !== undefined
}

const hasWords = /\p{L}{2}\s{1,3}\S{0,3}\p{L}{2}|[\u3040-\u30ff\u4e00-\u9fff\u0400-\u04ff]{2}/u

/** Whether texts have words: what identifiers are made of shows no language. */
function isProse(texts: readonly string[]): boolean {
  const withWords = texts.filter((text) => hasWords.test(text))
  return withWords.length >= texts.length * 0.2 && withWords.length > 0
}

/** The language of a file: of most of its columns, by how many values show it, then that of its headings. */
function languageOf(drafts: readonly Draft[]): FieldLocale | undefined {
  const votes = new Map<FieldLocale, number>()
  const vote = (locale: FieldLocale | undefined, weight: number) => {
    if (locale !== undefined) votes.set(locale, (votes.get(locale) ?? 0) + weight)
  }
  for (const { language, numbers, isBoolean } of drafts) vote(language, numbers || isBoolean ? 1 : 2)
  vote(headingLanguage(drafts.map(({ column }) => column.names.join(' '))), 3)
  const [best, second] = [...votes].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  return best && (second === undefined || best[1] > second[1]) ? best[0] : undefined
}

/** The decimal mark of a column: what its values decide, else what the file does. */
function ownMark(forms: readonly NumberForm[]): '.' | ',' | undefined {
  const comma = forms.filter(({ mark }) => mark === ',').length
  const dot = forms.filter(({ mark }) => mark === '.').length
  if (comma === 0 && dot === 0) return undefined
  return comma > dot ? ',' : '.'
}

/** The decimal mark of the file, for columns whose values leave it open. */
function decimalMark(
  drafts: readonly Draft[],
  language: FieldLocale | undefined,
  { csvDelimiter }: AnalyzeOptions,
): '.' | ',' {
  const marks = drafts.map(({ numbers }) => numbers && ownMark(numbers))
  const comma = marks.filter((mark) => mark === ',').length
  const dot = marks.filter((mark) => mark === '.').length
  if (comma !== dot) return comma > dot ? ',' : '.'
  return csvDelimiter === ';' && language !== undefined ? decimalMarkOf(language) : '.'
}

function typeOf(draft: Draft, language: FieldLocale | undefined, mark: '.' | ','): Typed {
  const { column, words, texts } = draft
  if (column.kind === 'record') return recordType(column, words)
  if (column.kind === 'list') return listType(column.values as readonly unknown[][], words)
  if (texts.length === 0) return { type: 'string' }
  const facts = factsOf(draft, language, mark)
  const type = typeByRules(facts)
  if (type !== undefined) return { type, locale: localeOf(draft, facts, type, language, mark) }
  if (isProductId(facts)) return { type: 'product_id' }
  if (facts.kind === 'boolean') return { type: 'boolean' }
  if (facts.kind === 'date') {
    const isIso = texts.every((text) => dateForm(text)?.kind === 'iso')
    const found: FieldType = isIso ? 'datetime_iso' : 'datetime'
    return { type: found, locale: localeOf(draft, facts, found, language, mark) }
  }
  if (facts.kind === 'number')
    return { type: 'number', locale: localeOf(draft, facts, 'number', language, mark) }
  const separator = separatorOf(texts)
  if (separator !== undefined) {
    return {
      ...listType(
        texts.map((text) => text.split(separator).filter((part) => part.trim() !== '')),
        words,
      ),
      separator,
    }
  }
  return { type: 'string', locale: localeOf(draft, facts, 'string', language, mark) }
}

function factsOf(draft: Draft, language: FieldLocale | undefined, mark: '.' | ','): ColumnFacts {
  const { column, words, texts, numbers, isBoolean, hasDates } = draft
  const kind = isBoolean
    ? 'boolean'
    : hasDates && dateLanguage(texts, language) !== undefined
      ? 'date'
      : numbers !== undefined && !staysText(numbers, words)
        ? 'number'
        : 'text'
  const locale = (numbers && (ownMark(numbers) ?? mark)) === ',' ? 'de' : undefined
  const values = kind === 'number' ? texts.map((text) => readNumber(text, locale) ?? 0) : []
  const distinct = new Set(texts)
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) {
    min = Math.min(min, value)
    max = Math.max(max, value)
  }
  return {
    words,
    kind,
    texts,
    isUnique: distinct.size === texts.length,
    isComplete: column.missing === 0,
    isInteger: values.every(Number.isInteger),
    hasCurrency: numbers?.some(({ currency }) => currency !== undefined) ?? false,
    min,
    max,
    averageLength: texts.reduce((sum, text) => sum + text.length, 0) / Math.max(1, texts.length),
  }
}

/** Whether digits are an identifier: they begin with a zero, are too long for a number, or are named like one. */
function staysText(numbers: readonly NumberForm[], words: string): boolean {
  const isWhole = numbers.every(({ digits }) => /^\d+$/.test(digits))
  if (numbers.some(({ hasLeadingZero, mark }) => hasLeadingZero && mark === undefined)) return true
  if (numbers.some(({ digits }) => /^\d{16,}$/.test(digits))) return true
  if (isIdentifierName(words)) return true
  return isWhole && numbers.length >= 2 && numbers.every(({ digits }) => isTradeItemNumber(digits))
}

/** EAN and UPC: 8, 12, 13 or 14 digits, of which the last is a check digit. */
function isTradeItemNumber(digits: string): boolean {
  if (!/^(\d{8}|\d{12,14})$/.test(digits)) return false
  let sum = 0
  for (let i = digits.length - 2, weight = 3; i >= 0; i--, weight = 4 - weight)
    sum += Number(digits[i]) * weight
  return (10 - (sum % 10)) % 10 === Number(digits.at(-1))
}

/** The language that values are read in, where they show one. */
function localeOf(
  { texts, numbers, language: own }: Draft,
  facts: ColumnFacts,
  type: FieldType,
  language: FieldLocale | undefined,
  mark: '.' | ',',
): FieldLocale | undefined {
  if (facts.kind === 'date') return dateLanguage(texts, language)?.locale
  if (facts.kind === 'number' && numbers !== undefined) return numberLanguage(numbers, own ?? language, mark)
  if (facts.kind !== 'text' || !/^(name|description|string)$/.test(type)) return undefined
  // Names are too short to show their language; they are in that of the file.
  return own ?? (type !== 'string' && isProse(texts) ? language : undefined)
}

function numberLanguage(
  numbers: readonly NumberForm[],
  language: FieldLocale | undefined,
  mark: '.' | ',',
): FieldLocale | undefined {
  const decided = ownMark(numbers)
  const isOpen = numbers.some(({ isAmbiguous }) => isAmbiguous)
  const groupings = new Set(numbers.map(({ grouping }) => grouping))
  if (decided === undefined && !isOpen) return undefined
  // Numbers as programs write them say nothing.
  if ((decided ?? mark) === '.')
    return groupings.has(',') || (isOpen && hasCommas(numbers)) ? 'en' : undefined
  if (language !== undefined && decimalMarkOf(language) === ',') return language
  return groupings.has(' ') ? 'fr' : 'de'
}

function hasCommas(numbers: readonly NumberForm[]): boolean {
  return numbers.some(({ digits, isAmbiguous }) => isAmbiguous && digits.includes(','))
}

function listType(lists: readonly (readonly unknown[])[], words: string): Typed {
  const elements = lists.flat()
  if (isReferenceListName(words)) return { type: 'reference_ids' }
  const isNumeric = elements.every(
    (element) =>
      typeof element === 'number' ||
      (typeof element === 'string' && /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(element.trim())),
  )
  return { type: isNumeric && elements.length > 0 ? 'array_number' : 'array_string' }
}

function recordType(column: Column, words: string): Typed {
  const values = column.values
    .flatMap((value) => Object.values(value as RawRow))
    .filter((value) => value !== null)
  if (/(^| )(transaction|order) (metadata|meta|properties)$/.test(words))
    return { type: 'transaction_metadata' }
  return {
    type:
      values.length > 0 && values.every((value) => typeof value === 'number')
        ? 'record_number'
        : 'record_string',
  }
}

/** What separates the parts of a list in one text: `red|blue`. */
function separatorOf(texts: readonly string[]): string | undefined {
  return ['|', ';'].find((separator) => {
    const lists = texts.filter((text) => text.includes(separator))
    if (lists.length < texts.length * 0.5) return false
    return lists.every((text) => text.split(separator).every((part) => part.length <= 80))
  })
}

/** The column that identifies its entries: unique, complete, and named or formed like an identifier; the first of the best. */
function referenceColumn(drafts: readonly Draft[], typed: readonly Typed[], rows: number): number {
  let best = -1
  let bestRank = 0
  for (const [index, draft] of drafts.entries()) {
    if (
      draft.column.kind !== 'single' ||
      draft.column.missing > 0 ||
      draft.column.names.length > 1 ||
      rows === 0
    )
      continue
    if (!['string', 'number', 'product_id', 'reference_id'].includes((typed[index] as Typed).type)) continue
    if (new Set(draft.texts).size !== draft.texts.length) continue
    const rank = referenceRank(factsOf(draft, undefined, '.'))
    if (rank > bestRank) {
      best = index
      bestRank = rank
    }
  }
  return best
}
