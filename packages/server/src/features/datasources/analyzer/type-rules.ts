// One table of rules in the order in which they are tried, longer than other files as types are many.

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
  /** Ends of names in the languages that fields can have; without accents. */
  readonly names?: readonly string[]
  readonly when?: (facts: ColumnFacts) => boolean
}

/** Whether a name is one of these or ends with it: `billing city` is a city. */
export function isNamed(words: string, names: readonly string[]): boolean {
  return names.some((name) => words === name || words.endsWith(` ${name}`))
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
const isNumber = (facts: ColumnFacts) => facts.kind === 'number'
const isDate = (facts: ColumnFacts) => facts.kind === 'date'
const isText = (facts: ColumnFacts) => facts.kind === 'text'

/** Names of identifiers: the first list is of the entry itself, the second of a product, the third of its codes. */
export const referenceNames: readonly (readonly string[])[] = [
  [
    'reference id',
    'reference',
    'ref id',
    'ref',
    'entry id',
    'store id',
    'shop id',
    'location id',
    'customer id',
    'id',
    'uuid',
    'guid',
    'code',
  ],
  [
    'product id',
    'item id',
    'article id',
    'produkt id',
    'artikel id',
    'artikelnummer',
    'article number',
    'item number',
    'product number',
    'product code',
    'stock code',
    'id produit',
    'reference produit',
    'id producto',
    'id produto',
    'product ref',
    'item group id',
    'parent id',
  ],
  ['sku', 'asin', 'mpn', 'ean', 'gtin', 'upc', 'isbn', 'barcode', 'variant id'],
]

/**
 * Types of single values: the first rule that holds gives the type. What values alone decide comes first, then names
 * with values that fit.
 */
export const typeRules: readonly TypeRule[] = [
  {
    type: 'image_url',
    when: ({ kind, texts, words }) =>
      kind === 'text' &&
      share(texts, address) >= 0.9 &&
      (share(texts, imagePath) >= 0.5 || imageName.test(words)),
  },
  { type: 'url', when: ({ kind, texts }) => kind === 'text' && share(texts, address) >= 0.9 },
  {
    type: 'url',
    names: ['url', 'link', 'href', 'permalink', 'deeplink'],
    when: ({ kind, texts }) => kind === 'text' && share(texts, /^(\/|www\.)\S*$/) >= 0.9,
  },
  { type: 'user_agent', when: ({ texts }) => share(texts, /^Mozilla\/\d\.\d \(/) >= 0.5 },
  { type: 'user_agent', names: ['user agent', 'useragent', 'ua string'], when: isText },
  // An address of a mailbox is a text like any other, whatever its name.
  { type: 'string', when: ({ texts }) => share(texts, /^[^\s@]+@[^\s@]+\.[^\s@]+$/) >= 0.9 },
  {
    type: 'latitude',
    names: ['latitude', 'lat', 'breitengrad', 'latitud', 'breedtegraad'],
    when: within(-90, 90),
  },
  {
    type: 'longitude',
    names: ['longitude', 'lon', 'lng', 'long', 'laengengrad', 'langengrad', 'longitud', 'lengtegraad'],
    when: within(-180, 180),
  },
  { type: 'company_id', names: ['company id'], when: isIdentifier },
  { type: 'workflow_version_id', names: ['workflow version id', 'version id'], when: isObjectId },
  { type: 'workflow_id', names: ['workflow id'], when: isIdentifier },
  { type: 'workflow_event_mode', names: ['workflow event mode', 'event mode'], when: shortText },
  { type: 'workflow_purchase_user', names: ['workflow purchase user'], when: isIdentifierOrMail },
  { type: 'workflow_onsite_user', names: ['workflow onsite user'], when: isIdentifierOrMail },
  { type: 'workflow_user', names: ['workflow user'], when: isIdentifierOrMail },
  {
    type: 'user_tmp_id',
    names: ['tmp id', 'temp id', 'user tmp id', 'anonymous id', 'visitor id', 'cookie id', 'device id'],
    when: isIdentifier,
  },
  { type: 'event_id', names: ['event id', 'message id'], when: isIdentifier },
  {
    type: 'event_name',
    names: ['event name', 'event', 'event type', 'evenement', 'evento', 'ereignis'],
    when: shortText,
  },
  {
    type: 'transaction_id',
    names: [
      'transaction id',
      'trans id',
      'transaction number',
      'order id',
      'order number',
      'order no',
      'order nr',
      'order ref',
      'invoice no',
      'invoice number',
      'invoice id',
      'invoice',
      'bestellnummer',
      'bestell nr',
      'auftragsnummer',
      'rechnungsnummer',
      'numero de commande',
      'id commande',
      'numero de pedido',
      'id pedido',
      'ordernummer',
      'purchase id',
      'receipt id',
    ],
    when: isIdentifier,
  },
  {
    type: 'transaction_source',
    names: ['transaction source', 'order source', 'purchase source'],
    when: shortText,
  },
  {
    type: 'user_birthday',
    names: [
      'birthday',
      'birth date',
      'birthdate',
      'date of birth',
      'dob',
      'geburtsdatum',
      'geburtstag',
      'date de naissance',
      'naissance',
      'fecha de nacimiento',
      'data de nascimento',
      'geboortedatum',
      'дата рождения',
    ],
    when: isDate,
  },
  {
    type: 'product_lifetime',
    names: [
      'lifetime',
      'product lifetime',
      'expiration date',
      'expiry date',
      'expires at',
      'expires',
      'valid until',
      'available until',
      'gueltig bis',
      'gultig bis',
      'date d expiration',
    ],
    when: isDate,
  },
  {
    type: 'user_age',
    names: ['age', 'user age', 'customer age', 'alter', 'edad', 'idade', 'leeftijd', 'возраст'],
    when: (facts) => isNumber(facts) && facts.isInteger && facts.min >= 0 && facts.max <= 130,
  },
  {
    type: 'product_quantity',
    names: [
      'quantity',
      'qty',
      'menge',
      'anzahl',
      'quantite',
      'cantidad',
      'quantidade',
      'aantal',
      'количество',
      'кількість',
      '数量',
    ],
    when: (facts) => isNumber(facts) && !facts.hasCurrency,
  },
  { type: 'price', when: (facts) => isNumber(facts) && facts.hasCurrency },
  {
    type: 'price',
    when: (facts) =>
      isNumber(facts) &&
      /(^| )(price|prices|msrp|rrp|preis|uvp|verkaufspreis|einzelpreis|prix|precio|preco|prijs|prezzo|цена|ціна|価格|价格)( |$)/.test(
        facts.words,
      ) &&
      !/(^| )(id|count|level|type|date)$/.test(facts.words),
  },
  {
    type: 'zipcode',
    names: [
      'zip',
      'zipcode',
      'zip code',
      'postal code',
      'postalcode',
      'postcode',
      'post code',
      'plz',
      'postleitzahl',
      'code postal',
      'codigo postal',
      'cep',
      'индекс',
      'индекс почтовый',
      '郵便番号',
      '邮编',
    ],
    when: ({ kind, texts }) =>
      (kind === 'text' || kind === 'number') && share(texts, /^[\p{L}\d][\p{L}\d\s-]{1,11}$/u) >= 0.9,
  },
  {
    type: 'city',
    names: [
      'city',
      'town',
      'locality',
      'ville',
      'stadt',
      'ort',
      'ciudad',
      'cidade',
      'stad',
      'plaats',
      'woonplaats',
      'город',
      'місто',
      '市',
    ],
    when: shortText,
  },
  {
    type: 'country',
    names: [
      'country',
      'country code',
      'country name',
      'land',
      'pays',
      'code pays',
      'pais',
      'страна',
      'країна',
      '国',
    ],
    when: shortText,
  },
  {
    type: 'locale',
    when: ({ kind, texts }) => kind === 'text' && share(texts, /^[a-z]{2}[-_][A-Z]{2}$/) >= 0.98,
  },
  {
    type: 'locale',
    names: [
      'locale',
      'language',
      'lang',
      'language code',
      'sprache',
      'langue',
      'idioma',
      'taal',
      'язык',
      'мова',
    ],
    when: ({ kind, texts }) => kind === 'text' && share(texts, /^[a-z]{2,3}([-_][a-z]{2,4})?$/i) >= 0.9,
  },
  {
    type: 'address_2',
    names: [
      'address 2',
      'address line 2',
      'address line2',
      'address2',
      'street 2',
      'adresse 2',
      'apartment',
      'complement',
      'adresszusatz',
      'complement d adresse',
      'complemento',
    ],
    when: shortText,
  },
  { type: 'address_3', names: ['address 3', 'address line 3', 'address3', 'adresse 3'], when: shortText },
  { type: 'address_4', names: ['address 4', 'address line 4', 'address4', 'adresse 4'], when: shortText },
  {
    type: 'address_1',
    names: [
      'address',
      'address 1',
      'address line 1',
      'address line1',
      'address line',
      'address1',
      'street',
      'street address',
      'street 1',
      'adresse',
      'adresse 1',
      'strasse',
      'anschrift',
      'rue',
      'direccion',
      'calle',
      'endereco',
      'rua',
      'adres',
      'straat',
      'улица',
      'адрес',
      '住所',
      '地址',
    ],
    when: shortText,
  },
  {
    type: 'description',
    names: [
      'description',
      'desc',
      'long description',
      'short description',
      'product description',
      'summary',
      'beschreibung',
      'kurzbeschreibung',
      'produktbeschreibung',
      'descripcion',
      'descricao',
      'omschrijving',
      'описание',
      'опис',
      '説明',
      '描述',
    ],
    when: isText,
  },
  {
    type: 'name',
    names: [
      'name',
      'title',
      'product name',
      'item name',
      'label',
      'titel',
      'bezeichnung',
      'artikelname',
      'produktname',
      'nom',
      'titre',
      'designation',
      'libelle',
      'nombre',
      'titulo',
      'nome',
      'naam',
      'название',
      'назва',
      '名前',
      '商品名',
      '名称',
    ],
    when: shortText,
  },
  {
    type: 'description',
    when: ({ kind, texts, averageLength }) =>
      kind === 'text' && averageLength >= 100 && share(texts, /\s\S+\s/) >= 0.9,
  },
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
    ({ names, when }) => (names === undefined || isNamed(facts.words, names)) && (when?.(facts) ?? true),
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
