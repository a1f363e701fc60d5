import type { Filter, Granularity, Query } from '@millrace/contract/resources/query.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import type { Catalogue, Language } from '../../platform/i18n/language.ts'
import { countryCodeOf } from './countries.ts'
import { dimensionWords, fixedWords, measureWords } from './lexicon.ts'
import type { PlannedQuery } from './planned-query.ts'
import { vocabularyOf } from './vocabulary.ts'

const texts = {
  en: {
    ...{ by: 'by', and: 'and', where: 'where', is: 'is', isNot: 'is not', or: 'or', answer: 'Answer' },
    compared: 'compared between the ranges',
    condition: 'some further conditions hold',
  },
  fr: {
    ...{ by: 'par', and: 'et', where: 'où', is: 'est', isNot: "n'est pas", or: 'ou', answer: 'Réponse' },
    compared: 'comparé entre les périodes',
    condition: "d'autres conditions sont remplies",
  },
} satisfies Catalogue<Record<string, string>>

/** The noun of a unit of time: the first word of questions for it. */
function unitOf(granularity: Granularity, language: Language): string {
  if (granularity === 'second') return language === 'en' ? 'second' : 'seconde'
  return granularity === 'minute' ? 'minute' : (fixedWords.unit[granularity][language][0] ?? granularity)
}

/** The name of a member in a language: its title, or its first words in the vocabulary. */
export function nameOfMember(id: string, meta: StatisticsMeta, language: Language): string {
  const title = (meta.measures[id] ?? meta.dimensions[id])?.title ?? id
  if (language === 'en') return title
  const measure = measureWords.find(
    ({ ids, events, weak, beside }) => ids.includes(id) && !events && !weak && !beside,
  )
  const name = measure ? undefined : vocabularyOf(meta).dimensionOf(id)?.name
  const dimension = dimensionWords.find((each) => each.name === name)
  return (measure ?? dimension)?.fr[0] ?? title
}

/** Yes and no are no words for these. */
const states: Readonly<Record<string, Catalogue<{ readonly yes: string; readonly no: string }>>> = {
  isNew: {
    en: { yes: 'the person is new', no: 'the person has come before' },
    fr: { yes: 'la personne est nouvelle', no: 'la personne est déjà venue' },
  },
  isIdentified: {
    en: { yes: 'the person is identified', no: 'the person is anonymous' },
    fr: { yes: 'la personne est identifiée', no: 'la personne est anonyme' },
  },
}

const capitalised = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function listed(parts: readonly string[], and: string): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} ${and} ${parts.at(-1)}`
}

/** What a query asks, in words and without its range: "Revenue by country, where Device type is mobile". */
export function describeQuery(query: Query, meta: StatisticsMeta, language: Language): string {
  const { by, and, where, compared } = texts[language]
  const name = (id: string) => nameOfMember(id, meta, language)
  const measures = listed(query.measures.map(name), and)
  const groups = [
    ...query.timeDimensions.flatMap(({ granularity }) => (granularity ? unitOf(granularity, language) : [])),
    ...query.dimensions.map((id) => lower(name(id), language)),
  ]
  const conditions = query.filters.map((filter) => describeFilter(filter, name, language))
  const isCompared = query.timeDimensions.some(({ compareDateRange }) => compareDateRange)
  return capitalised(
    [
      [measures, ...(groups.length > 0 ? [by, listed(groups, and)] : [])].join(' '),
      ...(conditions.length > 0 ? [`${where} ${listed(conditions, and)}`] : []),
      ...(isCompared ? [compared] : []),
    ].join(', '),
  )
}

/** The name within a sentence: a title begins with a capital letter, which abbreviations keep. */
function lower(name: string, language: Language): string {
  return language === 'en' && /^[A-Z][a-z]/.test(name)
    ? `${name.charAt(0).toLowerCase()}${name.slice(1)}`
    : name
}

function describeFilter(filter: Filter, name: (id: string) => string, language: Language): string {
  const { is, isNot, or, condition } = texts[language]
  if (!('operator' in filter)) return condition
  const { operator, values } = filter
  const id = filter.member ?? filter.dimension ?? ''
  const member = lower(name(id), language)
  if ((operator !== 'equals' && operator !== 'notEquals') || !values?.length) return condition
  const state = states[id.slice(id.indexOf('.') + 1)]?.[language]
  if (state && values.length === 1) {
    return (values[0] === 'true') === (operator === 'equals') ? state.yes : state.no
  }
  // Of a country one of its names says enough.
  const shown = values.filter((value, i) => {
    const code = countryCodeOf(value)
    return code === undefined || values.findIndex((each) => countryCodeOf(each) === code) === i
  })
  return `${member} ${operator === 'equals' ? is : isNot} ${listed(
    shown.map((value) => `"${value}"`),
    or,
  )}`
}

/** A title without figures, which stand only where they have evidence. */
export function titleOf(queries: readonly Query[], meta: StatisticsMeta, language: Language): string {
  const measures = [...new Set(queries.flatMap((query) => query.measures))].slice(0, 4)
  const [first] = queries
  const title =
    first && describeQuery({ ...first, measures, filters: [], timeDimensions: [] }, meta, language)
  return title && !/\p{N}/u.test(title) ? title : texts[language].answer
}

/** The form in which rows of a query are seen best. */
function chartOf({ dimensions, timeDimensions, measures }: Query): PlannedQuery['chart'] {
  if (timeDimensions.some(({ granularity }) => granularity)) return dimensions.length < 2 ? 'line' : 'table'
  return dimensions.length === 1 && measures.length < 4 ? 'bar' : 'table'
}

export function plannedQuery(query: Query, meta: StatisticsMeta, language: Language): PlannedQuery {
  return { query, asks: describeQuery(query, meta, language), chart: chartOf(query) }
}
