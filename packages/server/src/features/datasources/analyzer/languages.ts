import { type DateForm, dateForm } from './date-text.ts'
import type { FieldLocale } from './field-types.ts'

type WordsOfLanguages = Readonly<Partial<Record<FieldLocale, ReadonlySet<string>>>>

/** The words of a template. */
function words([text = '']: TemplateStringsArray): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

const entriesOf = (languages: WordsOfLanguages) =>
  Object.entries(languages) as (readonly [FieldLocale, ReadonlySet<string>])[]

/** Small words that texts of one language have and others seldom do. */
const stopWords: WordsOfLanguages = {
  de: words`
    und der die das ist mit für ein eine einen von auf nicht auch aus bei dem den des im zum zur wird sind
    oder sie ihr unsere aus`,
  fr: words`
    et le la les des une est pour avec dans sur du au aux ce cette par pas plus vous votre nos qui que sont
    ou en`,
  es: words`
    y el los las una es para con del al por que su este esta más sin sobre sus como muy nuestro lo en de`,
  pt: words`
    e o os as uma é para com do da dos das no na em por que seu sua este esta mais não ao você nosso de`,
  nl: words`
    en het een van voor met op is zijn deze dit niet ook uit bij aan onze uw je wordt naar door of te de`,
  en: words`and the of for with is are this that from your our you to in on by not as it an at has have`,
}

const letters: readonly (readonly [FieldLocale, RegExp])[] = [
  ['de', /[ßäöü]/],
  ['fr', /[èêâœçàùî]/],
  ['es', /[ñ¿¡]/],
  ['pt', /[ãõç]/],
]

const maxTexts = 500
const maxCharacters = 60_000

/** The language that the texts are in, of those that fields can have; `undefined` where they do not show it. */
export function detectLanguage(texts: readonly string[]): FieldLocale | undefined {
  const sample = texts.slice(0, maxTexts).join('\n').slice(0, maxCharacters).toLowerCase()
  const script = scriptOf(sample)
  if (script !== undefined) return script
  const scores = new Map<FieldLocale, number>()
  const vote = (locale: FieldLocale, weight: number) => scores.set(locale, (scores.get(locale) ?? 0) + weight)
  for (const word of sample.match(/\p{L}+/gu) ?? []) {
    for (const [locale, known] of entriesOf(stopWords)) if (known.has(word)) vote(locale, 1)
    for (const [locale, pattern] of letters) if (pattern.test(word)) vote(locale, 1)
  }
  const [best, second] = [...scores].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  if (best === undefined || best[1] < 3) return undefined
  return second === undefined || best[1] >= second[1] * 1.3 ? best[0] : undefined
}

function scriptOf(text: string): FieldLocale | undefined {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  const kana = count(/[\u3040-\u30ff]/g)
  const han = count(/[\u4e00-\u9fff]/g)
  const cyrillic = count(/[\u0400-\u04ff]/g)
  const latin = count(/[a-zà-ÿ]/g)
  if (kana + han > latin / 4 && kana + han >= 2) return kana * 10 >= han ? (kana > 0 ? 'ja' : 'zh') : 'zh'
  if (cyrillic > latin && cyrillic >= 4) return count(/[іїєґ]/g) > count(/[ыэёъ]/g) ? 'uk' : 'ru'
  return undefined
}

/** Words of column names by their language. */
const headings: WordsOfLanguages = {
  de: words`
    preis artikel artikelnummer menge beschreibung bezeichnung kategorie farbe größe groesse lager verfügbar
    bild strasse straße stadt ort plz land datum kunde bestellnummer hersteller marke aktiv`,
  fr: words`
    prix article quantité quantite désignation designation libellé libelle catégorie categorie couleur
    taille marque ville pays rue adresse commande nom disponible`,
  es: words`
    precio artículo articulo cantidad descripción descripcion categoría categoria talla tienda ciudad calle
    dirección direccion fecha nombre pedido disponible`,
  pt: words`
    preço preco artigo quantidade descrição descricao categoria cor tamanho loja cidade rua endereço
    endereco data nome pedido disponível`,
  nl: words`
    prijs artikelnummer aantal omschrijving kleur maat voorraad plaats straat postcode naam bestelling merk`,
  ru: words`цена товар количество описание категория цвет размер город улица дата имя название заказ`,
  uk: words`ціна товар кількість опис категорія колір розмір місто вулиця дата назва замовлення`,
}

/** The language of column names, where at least two of them are words of it alone. */
export function headingLanguage(names: readonly string[]): FieldLocale | undefined {
  const found = new Set(names.flatMap((name) => name.toLowerCase().match(/\p{L}+/gu) ?? []))
  const scores = entriesOf(headings).map(
    ([locale, known]) => [locale, [...known].filter((word) => found.has(word)).length] as const,
  )
  const [best, second] = scores.toSorted((a, b) => b[1] - a[1])
  return best && second && best[1] >= 2 && best[1] > second[1] ? best[0] : undefined
}

const currencies: readonly (readonly [RegExp, FieldLocale])[] = [
  [/^(R\$|BRL)$/, 'pt'],
  [/^(₽|RUB|руб\.?)$/, 'ru'],
  [/^(₴|UAH|грн\.?)$/, 'uk'],
  [/^(円|JPY)$/, 'ja'],
  [/^(元|CNY)$/, 'zh'],
  [/^(£|GBP|USD|US\$)$/, 'en'],
]

/** The language that a currency sign belongs to, where it belongs to one. */
export function currencyLanguage(sign: string | undefined): FieldLocale | undefined {
  return sign === undefined ? undefined : currencies.find(([pattern]) => pattern.test(sign))?.[1]
}

/**
 * The language by which dates of a column are read: their order decides, the language of the file where it is one of
 * that order. `undefined` for dates that are read alike in all, or that contradict each other.
 */
export function dateLanguage(
  texts: readonly string[],
  language: FieldLocale | undefined,
): { locale: FieldLocale | undefined } | undefined {
  const forms = texts.map(dateForm).filter((form): form is DateForm => form !== undefined)
  const named = forms.filter(({ kind }) => kind === 'month_name')
  if (named.length > 0) {
    const common = named.reduce<readonly FieldLocale[]>(
      (left, { locales = [] }) => left.filter((locale) => locales.includes(locale)),
      named[0]?.locales ?? [],
    )
    return { locale: language !== undefined && common.includes(language) ? language : common[0] }
  }
  if (forms.some(({ kind }) => kind === 'cjk')) return { locale: language === 'zh' ? 'zh' : 'ja' }
  const digits = forms.filter(({ kind }) => kind === 'digits')
  if (digits.length === 0) return { locale: undefined }
  const isDayInFront = digits.some(({ first = 0 }) => first > 12)
  const isMonthInFront = digits.some(({ second = 0 }) => second > 12)
  if (isDayInFront && isMonthInFront) return undefined
  const separator = digits[0]?.separator
  if (isMonthInFront || (!isDayInFront && separator === '/' && language === 'en')) return { locale: 'en' }
  if (language !== undefined && language !== 'en') return { locale: language }
  return { locale: separator === '.' ? 'de' : separator === '-' ? 'nl' : 'fr' }
}
