import type { FieldType } from './field-types.ts'

/** What a column of single values shows. */
export interface ColumnFacts {
  /** Words of its name, `product id`. */
  readonly words: string
  readonly kind: 'boolean' | 'number' | 'date' | 'text'
  readonly texts: readonly string[]
  readonly isUnique: boolean
  readonly isComplete: boolean
  readonly isInteger: boolean
  readonly hasCurrency: boolean
  readonly min: number
  readonly max: number
  readonly averageLength: number
}

interface TypeRule {
  readonly type: FieldType
  /** Ends of names that columns of the type have; without any it is every name. */
  readonly names?: Names
  readonly when: (facts: ColumnFacts) => boolean
}

/** Names, or ends of them, in the languages that fields can have; without accents. */
type Names = readonly string[]

/** Names of a template, separated by commas. */
function listed([text = '']: TemplateStringsArray): Names {
  return text.split(',').map((name) => name.trim().replace(/\s+/g, ' '))
}

/** Whether a name is one of these or ends with it: `billing city` is a city. */
function isNamed(words: string, names: Names): boolean {
  return names.some((name) => words === name || words.endsWith(` ${name}`))
}

/** The rule of a type that columns with some names have; the names are a template. */
function named(type: FieldType, when: TypeRule['when']): (names: TemplateStringsArray) => TypeRule {
  return (names) => ({ type, names: listed(names), when })
}

function share(texts: readonly string[], pattern: RegExp): number {
  return texts.length === 0 ? 0 : texts.filter((text) => pattern.test(text.trim())).length / texts.length
}

/** With a scheme any host will do, as `localhost:1234`. */
const address = /^(?:https?:\/\/[^\s/]\S*|\/\/[^\s/]+\.\S+)$/i
const imagePath = /\.(jpe?g|png|webp|gif|avif|svg|bmp|tiff?)(\?[^\s]*)?(#.*)?$/i
const imageName =
  /\b(image|images|img|picture|pic|photo|thumbnail|thumb|bild|bilder|foto|imagen|imagem|afbeelding|fotos)\b/
const identifier = /^[\p{L}\p{N}][\p{L}\p{N}._:/#+-]*$/u
const shortText = (facts: ColumnFacts) => facts.kind === 'text' && facts.averageLength <= 200
const isIdentifier = (facts: ColumnFacts) =>
  (facts.kind === 'text' || (facts.kind === 'number' && facts.isInteger)) &&
  share(facts.texts, identifier) >= 0.98
/** Whether texts are of a form, but for a share that may be typing errors. */
const textsLike =
  (pattern: RegExp, least = 0.9) =>
  (facts: ColumnFacts) =>
    facts.kind === 'text' && share(facts.texts, pattern) >= least
const isNumber = (facts: ColumnFacts) => facts.kind === 'number'
const isDate = (facts: ColumnFacts) => facts.kind === 'date'
const isText = (facts: ColumnFacts) => facts.kind === 'text'

const priceName =
  /(^| )(price|prices|msrp|rrp|preis|uvp|verkaufspreis|einzelpreis|prix|precio|preco|prijs|prezzo|цена|ціна|価格|价格)( |$)/
const noPriceName = /(^| )(id|count|level|type|date)$/
const zipCode = /^[\p{L}\d][\p{L}\d\s-]{1,11}$/u
const isZipCode = (facts: ColumnFacts) =>
  (facts.kind === 'text' || facts.kind === 'number') && share(facts.texts, zipCode) >= 0.9
const isAge = (facts: ColumnFacts) => within(0, 130)(facts) && facts.isInteger

/** Names of identifiers: the first list is of the entry itself, the second of a product, the third of its codes. */
const referenceNames: readonly Names[] = [
  listed`
    reference id, reference, ref id, ref, entry id, store id, shop id, location id, customer id, id, uuid,
    guid, code`,
  listed`
    product id, item id, article id, produkt id, artikel id, artikelnummer, article number, item number,
    product number, product code, stock code, id produit, reference produit, id producto, id produto,
    product ref, item group id, parent id`,
  listed`
    sku, asin, mpn, ean, gtin, upc, isbn, barcode, variant id`,
]

/**
 * Types of single values: the first rule that holds gives the type. What values alone decide comes first, then names
 * with values that fit.
 */
const typeRules: readonly TypeRule[] = [
  {
    type: 'image_url',
    when: (facts) =>
      textsLike(address)(facts) && (share(facts.texts, imagePath) >= 0.5 || imageName.test(facts.words)),
  },
  { type: 'url', when: textsLike(address) },
  named('url', textsLike(/^(\/|www\.)\S*$/))`url, link, href, permalink, deeplink`,
  { type: 'user_agent', when: ({ texts }) => share(texts, /^Mozilla\/\d\.\d \(/) >= 0.5 },
  named('user_agent', isText)`user agent, useragent, ua string`,
  // An address of a mailbox is a text like any other, whatever its name.
  { type: 'string', when: ({ texts }) => share(texts, /^[^\s@]+@[^\s@]+\.[^\s@]+$/) >= 0.9 },
  named('latitude', within(-90, 90))`latitude, lat, breitengrad, latitud, breedtegraad`,
  named('longitude', within(-180, 180))`
    longitude, lon, lng, long, laengengrad, langengrad, longitud, lengtegraad`,
  named('company_id', isIdentifier)`company id`,
  named('workflow_version_id', isObjectId)`workflow version id, version id`,
  named('workflow_id', isIdentifier)`workflow id`,
  named('workflow_event_mode', shortText)`workflow event mode, event mode`,
  named('workflow_purchase_user', isIdentifierOrMail)`workflow purchase user`,
  named('workflow_onsite_user', isIdentifierOrMail)`workflow onsite user`,
  named('workflow_user', isIdentifierOrMail)`workflow user`,
  named('user_tmp_id', isIdentifier)`
    tmp id, temp id, user tmp id, anonymous id, visitor id, cookie id, device id`,
  named('event_id', isIdentifier)`event id, message id`,
  named('event_name', shortText)`event name, event, event type, evenement, evento, ereignis`,
  named('transaction_id', isIdentifier)`
    transaction id, trans id, transaction number, order id, order number, order no, order nr, order ref,
    invoice no, invoice number, invoice id, invoice, bestellnummer, bestell nr, auftragsnummer,
    rechnungsnummer, numero de commande, id commande, numero de pedido, id pedido, ordernummer, purchase id,
    receipt id`,
  named('transaction_source', shortText)`transaction source, order source, purchase source`,
  named('user_birthday', isDate)`
    birthday, birth date, birthdate, date of birth, dob, geburtsdatum, geburtstag, date de naissance,
    naissance, fecha de nacimiento, data de nascimento, geboortedatum, дата рождения`,
  named('product_lifetime', isDate)`
    lifetime, product lifetime, expiration date, expiry date, expires at, expires, valid until, available
    until, gueltig bis, gultig bis, date d expiration`,
  named('user_age', isAge)`age, user age, customer age, alter, edad, idade, leeftijd, возраст`,
  named('product_quantity', (facts) => isNumber(facts) && !facts.hasCurrency)`
    quantity, qty, menge, anzahl, quantite, cantidad, quantidade, aantal, количество, кількість, 数量`,
  { type: 'price', when: (facts) => isNumber(facts) && facts.hasCurrency },
  {
    type: 'price',
    when: (facts) => isNumber(facts) && priceName.test(facts.words) && !noPriceName.test(facts.words),
  },
  named('zipcode', isZipCode)`
    zip, zipcode, zip code, postal code, postalcode, postcode, post code, plz, postleitzahl, code postal,
    codigo postal, cep, индекс, индекс почтовый, 郵便番号, 邮编`,
  named('city', shortText)`
    city, town, locality, ville, stadt, ort, ciudad, cidade, stad, plaats, woonplaats, город, місто, 市`,
  named('country', shortText)`
    country, country code, country name, land, pays, code pays, pais, страна, країна, 国`,
  { type: 'locale', when: textsLike(/^[a-z]{2}[-_][A-Z]{2}$/, 0.98) },
  named('locale', textsLike(/^[a-z]{2,3}([-_][a-z]{2,4})?$/i))`
    locale, language, lang, language code, sprache, langue, idioma, taal, язык, мова`,
  named('address_2', shortText)`
    address 2, address line 2, address line2, address2, street 2, adresse 2, apartment, complement,
    adresszusatz, complement d adresse, complemento`,
  named('address_3', shortText)`address 3, address line 3, address3, adresse 3`,
  named('address_4', shortText)`address 4, address line 4, address4, adresse 4`,
  named('address_1', shortText)`
    address, address 1, address line 1, address line1, address line, address1, street, street address,
    street 1, adresse, adresse 1, strasse, anschrift, rue, direccion, calle, endereco, rua, adres, straat,
    улица, адрес, 住所, 地址`,
  named('description', isText)`
    description, desc, long description, short description, product description, summary, beschreibung,
    kurzbeschreibung, produktbeschreibung, descripcion, descricao, omschrijving, описание, опис, 説明, 描述`,
  named('name', shortText)`
    name, title, product name, item name, label, titel, bezeichnung, artikelname, produktname, nom, titre,
    designation, libelle, nombre, titulo, nome, naam, название, назва, 名前, 商品名, 名称`,
  { type: 'description', when: (facts) => facts.averageLength >= 100 && textsLike(/\s\S+\s/)(facts) },
]

function within(min: number, max: number) {
  return (facts: ColumnFacts) => isNumber(facts) && facts.min >= min && facts.max <= max
}

function isObjectId({ texts }: ColumnFacts): boolean {
  return share(texts, /^[0-9a-f]{24}$/i) >= 0.98
}

function isIdentifierOrMail(facts: ColumnFacts): boolean {
  return facts.kind === 'text' || isIdentifier(facts)
}

/** The type of a column of single values, without regard to other columns; `undefined` where only its kind shows. */
export function typeByRules(facts: ColumnFacts): FieldType | undefined {
  return typeRules.find(
    ({ names, when }) => (names === undefined || isNamed(facts.words, names)) && when(facts),
  )?.type
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** How much a column looks like the identifier of its entries, from 4 down to 1; 0 where it does not. */
export function referenceRank(facts: ColumnFacts): number {
  if (!isIdentifier(facts)) return 0
  const byName = referenceNames.findIndex((names) => isNamed(facts.words, names))
  if (byName !== -1) return referenceNames.length + 1 - byName
  return share(facts.texts, uuid) === 1 ? 1 : 0
}

/** Whether a column is named like the identifier of a product. */
export function isProductId(facts: ColumnFacts): boolean {
  return isIdentifier(facts) && referenceNames.slice(1).some((names) => isNamed(facts.words, names))
}

/** Whether numbers of a column are identifiers by their name: they stay texts. */
export function isIdentifierName(words: string): boolean {
  return (
    /(^| )(id|nr|no|number|nummer|numero|code|key|sku|ean|gtin|isbn|upc|barcode|phone|telephone|telefon|tel|fax|mobile|ref|reference|uuid|vat|siret|iban)$/.test(
      words,
    ) && !/^(number|numero|no|nummer)$/.test(words)
  )
}

/** Whether numbers of a column may be seconds or milliseconds by its name. */
export function isTimeName(words: string): boolean {
  return /(^| )(date|datetime|time|timestamp|ts|at|on|since|until|created|updated|modified|datum|zeit|heure|fecha|data|tijd)( |$)/.test(
    words,
  )
}

/** Whether lists of a column are identifiers of other entries by its name. */
export function isReferenceListName(words: string): boolean {
  return /(^| )(ids|skus|references|refs|eans|related|related products|product ids|cross sells?|up sells?|crosssells?|upsells?|recommendations|recommended|accessories|bought together)$/.test(
    words,
  )
}
