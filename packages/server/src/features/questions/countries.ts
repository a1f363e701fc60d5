import { formsOfName } from './words.ts'

/** Names of countries beside those of the runtime's tables, by ISO 3166-1 alpha-2. */
const furtherNames: Readonly<Record<string, readonly string[]>> = {
  GB: ['UK', 'U.K.', 'Great Britain', 'Britain', 'Grande-Bretagne', 'Angleterre', 'England'],
  US: ['USA', 'United States of America', 'America', 'États-Unis d’Amérique', 'Amérique'],
  NL: ['Holland', 'Hollande', 'the Netherlands'],
  CZ: ['Czech Republic', 'République tchèque'],
  RU: ['Russian Federation', 'Fédération de Russie'],
  KR: ['Korea', 'Corée'],
  IE: ['EIRE', 'République d’Irlande', 'Republic of Ireland'],
  CN: ['China', 'Chine'],
  AE: ['UAE', 'EAU'],
  TR: ['Turkey', 'Turquie'],
}

/** Words that mean something else more often than the country. */
const ambiguous = new Set(['chad', 'jersey'])

const capitals = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i))

export interface Country {
  /** ISO 3166-1 alpha-2. */
  readonly code: string
  /** In English and French, as they are written. */
  readonly names: readonly string[]
}

function listCountries(): Country[] {
  const tables = ['en', 'fr'].map(
    (language) => new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }),
  )
  const pairs = capitals.flatMap((first) => capitals.map((second) => first + second))
  return pairs.flatMap((code) => {
    // What the tables know beside countries: unions, and codes for tests.
    if (['EU', 'EZ', 'UN', 'XA', 'XB', 'QO', 'ZZ', 'UK'].includes(code)) return []
    // A code that was given up stands for the one that followed it.
    if (Intl.getCanonicalLocales(`und-${code}`)[0] !== `und-${code}`) return []
    const names = tables.flatMap((table) => table.of(code) ?? [])
    return names.length === 0
      ? []
      : [{ code, names: [...new Set([...names, ...(furtherNames[code] ?? [])])] }]
  })
}

/** Every country with its names. */
export const countries: readonly Country[] = listCountries()

/** Names of countries as the words of the vocabulary. */
export function countryForms(): (readonly [forms: readonly string[], country: Country])[] {
  return countries.flatMap((country) =>
    country.names.flatMap((name) => {
      const forms = formsOfName(name.replace(/\(.*\)/, ''))
      return forms.length === 0 || ambiguous.has(forms.join(' ')) ? [] : [[forms, country] as const]
    }),
  )
}

const codes = new Map(countries.flatMap(({ code, names }) => [code, ...names].map((name) => [name, code])))

/** The code of a country by one of its names as they are written here; undefined for other texts. */
export function countryCodeOf(name: string): string | undefined {
  return codes.get(name)
}
