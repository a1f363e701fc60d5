import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import { DatasourceField as schema } from '@millrace/contract/resources/datasource-field.ts'
import fc from 'fast-check'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { analyzeFile } from '../../src/features/datasources/analyzer/analyze-file.ts'
import { analyzeRows } from '../../src/features/datasources/analyzer/analyze-rows.ts'
import { primitiveOfType } from '../../src/features/datasources/analyzer/field-types.ts'
import { sampleRows } from '../../src/features/datasources/analyzer/sample-rows.ts'
import type { RawRow, SourceOptions } from '../../src/features/datasources/formats/source-options.ts'
import { times } from '../support/long.ts'
import { onlineRetailFile, realDataAbsent } from '../support/online-retail.ts'
import { createFileDirectory, streamOf, utf16be, workbookOf, zipOf } from '../support/source-files.ts'

const files = createFileDirectory()

/** A field in short: `name type locale? path`, with `?` behind the type where values may be missing. */
function brief(fields: readonly DatasourceField[]): string[] {
  return fields.map(({ name, type, ignoreIfMissing, metadata, rulesPerSources }) => {
    const [path, split] = rulesPerSources['0'] ?? []
    const rest = split === undefined ? '' : ` ${split.name} ${split.params.separator}`
    return `${name}: ${type}${ignoreIfMissing ? '?' : ''}${metadata?.locale ? ` ${metadata.locale}` : ''} < ${path?.params.value}${rest}`
  })
}

interface Case {
  readonly name: string
  readonly content: string | Uint8Array | Promise<Uint8Array>
  readonly options: SourceOptions
  readonly fields: readonly string[]
}

const germanShop = `Artikelnummer;Bezeichnung;Beschreibung;Preis;UVP;Lagerbestand;Verfügbar;Gewicht (kg);EAN;Geändert am;Bild-URL
A-100;Ofenhandschuh mit Muster;Schützt die Hände und ist für die Spülmaschine nicht geeignet;12,90;1.299,00 €;1.200;ja;0,25;4006381333931;31.12.2025 18:30;https://shop.example/bild/a-100.jpg
A-101;Besen aus Holz;Für den Garten und die Terrasse, mit einem langen Stiel;7,50;9,95 €;35;nein;1,1;4006381333948;01.02.2025 08:00;https://shop.example/bild/a-101.jpg
A-102;Eimer;Der Eimer ist aus Metall und hat einen Griff;-;19,95 €;0;ja;2,0;4006381333955;15.06.2025 12:15;https://shop.example/bild/a-102.jpg
`

const frenchShop = `id\tnom\tdescription\tprix\tquantité\tdisponible\tdate de mise à jour\tville\tcode postal
1001\tChaise en bois\tUne chaise pour la cuisine avec des pieds en métal\t1 234,50\t12\toui\t03/04/2025\tLyon\t69001
1002\tTable basse\tLa table est livrée avec les vis et une notice\t89,90\t3\tnon\t28/04/2025\tSaint-Étienne\t42000
1003\tLampe\tUne lampe de bureau pour les petits espaces\t25,00\tN/A\toui\t30/04/2025\tNîmes\t30000
`

const usCustomers = `Customer ID,Full Name,E-mail,Date of Birth,Age,Phone,Street Address,Address 2,City,ZIP,Country,Opt In,Total Spent,Signup Date,Latitude,Longitude
00017,"Smith, Anna",anna@example.com,04/23/1985,40,+1 555 0100,1 Main St,Apt 4,Springfield,01103,US,Y,"$1,234.50",12/31/2024,42.1015,-72.5898
00018,"O""Neil, Bob",bob@example.com,11/02/1990,35,+1 555 0101,2 Oak Ave,,Portland,97201,US,N,$99.00,01/15/2025,45.5152,-122.6784
00019,"Lee, Chris",chris@example.com,07/30/1978,47,,3 Pine Rd,NULL,Austin,73301,US,Y,"$12,000.00",02/28/2025,30.2672,-97.7431
`

const apiProducts = JSON.stringify({
  meta: { page: 1, tags: ['a'] },
  products: [
    {
      id: 9_000_000_001,
      title: 'Red shirt',
      price: { amount: 19.5, currency: 'EUR' },
      images: ['https://x.example/1.png', 'https://x.example/2.png'],
      variants: [
        { sku: 'a', stock: 1 },
        { sku: 'b', stock: 2 },
      ],
      attributes: { color: 'red', fit: 'slim' },
      translations: { fr: 'Chemise' },
      related_ids: [2, 3],
      sizes: [38, 40],
      url: 'https://x.example/p/1',
      in_stock: 1,
      updated_at: 1_735_689_600,
    },
    {
      id: 9_000_000_002,
      title: 'Blue shirt',
      price: { amount: 25, currency: 'EUR' },
      images: ['https://x.example/3.png'],
      variants: [{ sku: 'c', stock: 0 }],
      attributes: { color: 'blue' },
      translations: { de: 'Hemd' },
      related_ids: [],
      sizes: [],
      url: 'https://x.example/p/2',
      in_stock: 0,
      updated_at: 1_735_776_000,
    },
    {
      id: 9_000_000_003,
      title: 'Green shirt',
      price: { amount: 30.25, currency: 'EUR' },
      images: [],
      variants: [],
      attributes: { material: 'wool' },
      translations: { es: 'Camisa' },
      related_ids: [1],
      sizes: [42],
      url: 'https://x.example/p/3',
      in_stock: 1,
      updated_at: null,
    },
  ],
})

const events = [
  {
    event_id: 'e-1',
    event_name: 'page view',
    tmp_id: 'd-1',
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
    at: '2025-12-31T23:59:59Z',
    company_id: '64b000000000000000000001',
    workflow_id: '64b000000000000000000002',
    workflow_version_id: '64b000000000000000000003',
    workflow_event_mode: 'display',
    locale: 'fr_FR',
  },
  {
    event_id: 'e-2',
    event_name: 'add to cart',
    tmp_id: 'd-2',
    user_agent: 'Mozilla/5.0 (iPhone)',
    at: '2026-01-01T00:00:00.5+01:00',
    company_id: '64b000000000000000000001',
    workflow_id: '64b000000000000000000002',
    workflow_version_id: '64b000000000000000000004',
    workflow_event_mode: 'click',
    locale: 'de_DE',
  },
]
  .map((event) => JSON.stringify(event))
  .join('\r\n')

const googleFeed = `<?xml version="1.0" encoding="UTF-8"?>
<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel><title>Shop</title><link>https://s.example</link>
<item><g:id>1</g:id><g:title>Mesa de madera para el jardín</g:title><g:description>Una mesa para el comedor con las patas de metal</g:description><g:price currency="EUR">1.234,56</g:price><g:link>https://s.example/1</g:link><g:image_link>https://s.example/1.webp</g:image_link><g:additional_image_link>https://s.example/1a.webp</g:additional_image_link><g:additional_image_link>https://s.example/1b.webp</g:additional_image_link><g:gtin>4006381333931</g:gtin><g:expiration_date>2026-03-01</g:expiration_date></item>
<item><g:id>2</g:id><g:title>Silla</g:title><g:description>La silla es muy cómoda y no pesa</g:description><g:price currency="EUR">45,00</g:price><g:link>https://s.example/2</g:link><g:image_link>https://s.example/2.webp</g:image_link><g:gtin>4006381333948</g:gtin><g:expiration_date>2026-04-01</g:expiration_date></item>
</channel></rss>`

const japaneseShop = `商品コード,商品名,価格,数量,更新日
J-1,木のスプーン,"¥1,200",5,2025年12月31日
J-2,お茶わん,"¥800",12,2025年1月5日
`

const russianStores = `id;название;город;индекс;улица;широта;цена доставки;открыт
S-1;Магазин на Тверской;Москва;101000;Тверская 1;55.75;299,50 ₽;да
S-2;Магазин у моря;Сочи;354000;Морская 2;43.6;150,00 ₽;нет
`

const orderLines = [
  ['Order ID', 'SKU', 'Qty', 'Unit Price', 'Order Date', 'Ship Time', 'Gift', 'Notes'],
  [
    'O-1',
    '000123',
    2,
    9.99,
    { serial: 46_022, style: 1 },
    { serial: 46_022.5, style: 2 },
    true,
    'leave it at the door',
  ],
  ['O-1', '000124', 1, 5, { serial: 46_022, style: 1 }, { serial: 46_022.75, style: 2 }, false, undefined],
  ['O-2', '000123', 3, 9.99, { serial: 46_023, style: 1 }, undefined, false, undefined],
] as const

const brazil = `Pedido;Cliente;Descrição;Valor;Data;Pago
P1;Ana;Sapato de couro para o verão;R$ 1.299,90;05/01/2025;sim
P2;João;Camisa com botões e uma gola;R$ 89,90;25/01/2025;não
`

const dutch = `sku|naam|prijs|kleuren|datum|voorraad
n1|Fiets voor de stad|1.299,95|rood;blauw|31-12-2025|4
n2|Helm met een bel|45,50|zwart;wit;geel|01-06-2025|10
n3|Tas voor op de fiets|20,00|groen|15-07-2025|0
`

const dirty = `__proto__,=cmd|' /C calc'!A0,2nd column,,Price,price,constructor
1,=1+1,x,-,1,2,a
2,@SUM(A1),y,NULL,3,4,b
3,+1,,n/a,,5
4,-2,z,"","broken" quote,1,2
`

const cases: readonly Case[] = [
  {
    name: 'links.csv (addresses of a server under development)',
    content:
      'sku,target,picture\nA,http://localhost:1234/a,http://cdn:8080/a.png\nB,http://localhost:1234/b,http://cdn:8080/b.png\n',
    options: { format: 'csv', csvDelimiter: ',' },
    fields: ['sku: reference_id < sku', 'target: url < target', 'picture: image_url < picture'],
  },
  {
    name: 'shop.csv (German, semicolons, windows-1252)',
    content: Buffer.from(germanShop.replaceAll('€', '\x80'), 'latin1'),
    options: { format: 'csv', encoding: 'windows-1252', csvDelimiter: ';' },
    fields: [
      'artikelnummer: reference_id < Artikelnummer',
      'bezeichnung: name de < Bezeichnung',
      'beschreibung: description de < Beschreibung',
      'preis: price? de < Preis',
      'uvp: price de < UVP',
      'lagerbestand: number de < Lagerbestand',
      'verfugbar: boolean < Verfügbar',
      'gewicht_kg: number de < Gewicht (kg)',
      'ean: product_id < EAN',
      'geandert_am: datetime de < Geändert am',
      'bild_url: image_url < Bild-URL',
    ],
  },
  {
    name: 'produits.tsv (French, UTF-16 with a mark, no-break spaces, CR LF)',
    content: utf16be(`\ufeff${frenchShop.replace('1 234', '1\u00a0234').replaceAll('\n', '\r\n')}`),
    options: { format: 'csv', encoding: 'utf-16be', csvDelimiter: '\t' },
    fields: [
      'id: reference_id < id',
      'nom: name fr < nom',
      'description: description fr < description',
      'prix: price fr < prix',
      'quantite: product_quantity? < quantité',
      'disponible: boolean < disponible',
      'date_de_mise_a_jour: datetime fr < date de mise à jour',
      'ville: city < ville',
      'code_postal: zipcode < code postal',
    ],
  },
  {
    name: 'customers.csv (US, quotes, month first, leading zeros)',
    content: `\ufeff${usCustomers}`,
    options: { format: 'csv', encoding: 'utf-8', csvDelimiter: ',' },
    fields: [
      'customer_id: reference_id < Customer ID',
      'full_name: name < Full Name',
      'e_mail: string < E-mail',
      'date_of_birth: user_birthday en < Date of Birth',
      'age: user_age < Age',
      'phone: string? < Phone',
      'street_address: address_1 < Street Address',
      'address_2: address_2? < Address 2',
      'city: city < City',
      'zip: zipcode < ZIP',
      'country: country < Country',
      'opt_in: boolean < Opt In',
      'total_spent: price en < Total Spent',
      'signup_date: datetime en < Signup Date',
      'latitude: latitude < Latitude',
      'longitude: longitude < Longitude',
    ],
  },
  {
    name: 'products.json (nested, lists, maps, epoch seconds)',
    content: apiProducts,
    options: { format: 'json', rootPath: 'products.*' },
    fields: [
      'id: reference_id < id',
      'title: name < title',
      'price_amount: price < price.amount',
      'price_currency: string < price.currency',
      'images: array_string? < images',
      'variants_sku: array_string? < variants.*.sku',
      'variants_stock: array_number? < variants.*.stock',
      'attributes: record_string < attributes',
      'translations: record_string < translations',
      'related_ids: reference_ids? < related_ids',
      'sizes: array_number? < sizes',
      'url: url < url',
      'in_stock: boolean < in_stock',
      'updated_at: datetime? < updated_at',
    ],
  },
  {
    name: 'events.jsonl (NDJSON, CR LF, ISO dates)',
    content: events,
    options: { format: 'ndjson' },
    fields: [
      'event_id: event_id < event_id',
      'event_name: event_name < event_name',
      'tmp_id: user_tmp_id < tmp_id',
      'user_agent: user_agent < user_agent',
      'at: datetime_iso < at',
      'company_id: company_id < company_id',
      'workflow_id: workflow_id < workflow_id',
      'workflow_version_id: workflow_version_id < workflow_version_id',
      'workflow_event_mode: workflow_event_mode < workflow_event_mode',
      'locale: locale < locale',
    ],
  },
  {
    name: 'feed.xml (a shopping feed in Spanish, namespaces, attributes, repeated elements)',
    content: googleFeed,
    options: { format: 'xml', encoding: 'utf-8', rootPath: 'rss.channel.item' },
    fields: [
      'id: reference_id < g:id',
      'title: name es < g:title',
      'description: description es < g:description',
      'price_currency: string < g:price.@currency',
      'price: price es < g:price.#text',
      'link: url < g:link',
      'image_link: image_url < g:image_link',
      'additional_image_link: array_string? < g:additional_image_link',
      'gtin: product_id < g:gtin',
      'expiration_date: product_lifetime < g:expiration_date',
    ],
  },
  {
    name: 'shop-ja.csv (Japanese, Shift_JIS is not detected: UTF-8)',
    content: japaneseShop,
    options: { format: 'csv', encoding: 'utf-8', csvDelimiter: ',' },
    fields: [
      'field_1: string < 商品コード',
      'field_2: name ja < 商品名',
      'field_3: price en < 価格',
      'field_4: product_quantity < 数量',
      'field_5: datetime ja < 更新日',
    ],
  },
  {
    name: 'stores.csv (Russian, UTF-16 without a mark)',
    content: Buffer.from(russianStores, 'utf16le'),
    options: { format: 'csv', encoding: 'utf-16le', csvDelimiter: ';' },
    fields: [
      'id: reference_id < id',
      'field_2: name ru < название',
      'field_3: city < город',
      'field_4: zipcode < индекс',
      'field_5: address_1 < улица',
      'field_6: number < широта',
      'field_7: price ru < цена доставки',
      'field_8: boolean < открыт',
    ],
  },
  {
    name: 'orders.xlsx (dates by cell formats, a title above the header)',
    content: workbookOf({ Export: [['Orders of December'], ...orderLines] }),
    options: { format: 'xlsx' },
    fields: [
      'order_id: transaction_id < Order ID',
      'sku: product_id < SKU',
      'qty: product_quantity < Qty',
      'unit_price: price < Unit Price',
      'order_date: datetime_iso < Order Date',
      'ship_time: datetime_iso? < Ship Time',
      'gift: boolean < Gift',
      'notes: string? en < Notes',
    ],
  },
  {
    name: 'pedidos.csv.gz (Portuguese, gzip)',
    content: gzipSync(brazil),
    options: { format: 'csv', encoding: 'utf-8', csvDelimiter: ';', compression: 'gzip' },
    fields: [
      'pedido: string < Pedido',
      'cliente: string < Cliente',
      'descricao: description pt < Descrição',
      'valor: price pt < Valor',
      'data: datetime pt < Data',
      'pago: boolean < Pago',
    ],
  },
  {
    name: 'fietsen.zip (Dutch, bars as delimiters, lists in texts)',
    content: zipOf({ 'readme.txt': '', 'export/fietsen.csv': dutch }),
    options: { format: 'csv', csvDelimiter: '|', compression: 'zip', entry: 'export/fietsen.csv' },
    fields: [
      'sku: reference_id < sku',
      'naam: name nl < naam',
      'prijs: price nl < prijs',
      'kleuren: array_string < kleuren split ;',
      'datum: datetime nl < datum',
      'voorraad: number < voorraad',
    ],
  },
  {
    name: 'table.parquet (typed columns)',
    content: Promise.resolve(
      Buffer.from(
        parquetWriteBuffer({
          columnData: [
            { name: 'productId', data: ['a', 'b', 'a'], type: 'STRING' },
            { name: 'unitPrice', data: [1.5, 2, null], type: 'DOUBLE' },
            { name: 'isActive', data: [true, false, true], type: 'BOOLEAN' },
            { name: 'createdAt', data: [new Date(0), new Date(1), new Date(2)], type: 'TIMESTAMP' },
            { name: 'scores', data: [{ x: 1 }, { y: 2 }, { z: 3 }], type: 'JSON' },
          ],
        }),
      ),
    ),
    options: { format: 'parquet' },
    fields: [
      'product_id: product_id < productId',
      'unit_price: price? < unitPrice',
      'is_active: boolean < isActive',
      'created_at: datetime_iso < createdAt',
      'scores: record_number < scores',
    ],
  },
  {
    name: 'dirty.csv (formulas and __proto__ as names, repeated and empty ones, ragged lines, wrong quotes)',
    content: dirty,
    options: { format: 'csv', csvDelimiter: ',' },
    fields: [
      'proto: number < __proto__',
      "cmd_c_calc_a0: string < =cmd|' /C calc'!A0",
      'field_2nd_column: string? < 2nd column',
      'column_4: string? < column_4',
      'price: price? < Price',
      'price_2: price < price',
      'constructor: string? < constructor',
    ],
  },
]

describe('Files of all formats, encodings and kinds of dirt (D07)', () => {
  test.each(cases)('$name', async ({ name, content, options, fields }) => {
    const fileName = name.split(' ')[0] as string
    const path = await files.write(fileName, await content)
    const analysis = await analyzeFile({ path, fileName })
    expect(brief(analysis.fields)).toEqual(fields)
    expect(analysis.options).toEqual(options)
    expect(analysis.isWhole).toBe(true)
    for (const field of analysis.fields) {
      expect(Value.Check(schema, field)).toBe(true)
      expect(field).toMatchObject({ selected: false, source: 'user', primitive: primitiveOfType[field.type] })
      expect(field.name).toMatch(/^[a-z][a-z0-9_-]*$/)
    }
    expect(new Set(analysis.fields.map((field) => field.name)).size).toBe(analysis.fields.length)
  })

  test.skipIf(realDataAbsent)(
    'the real data set: the first rows and pieces of the rest are enough',
    async () => {
      const expected = [
        'invoice_no: transaction_id < InvoiceNo',
        'stock_code: product_id < StockCode',
        'description: description? en < Description',
        'quantity: product_quantity < Quantity',
        'invoice_date: datetime_iso < InvoiceDate',
        'unit_price: price < UnitPrice',
        'customer_id: string? < CustomerID',
        'country: country < Country',
      ]
      const zipped = await analyzeFile({ path: onlineRetailFile, fileName: 'online-retail.csv.gz' })
      expect(brief(zipped.fields)).toEqual(expected)
      expect([zipped.rows, zipped.isWhole]).toEqual([10_000, false])
      const { gunzipSync } = await import('node:zlib')
      const path = await files.write('online-retail.csv', gunzipSync(await readFile(onlineRetailFile)))
      const plain = await analyzeFile({ path })
      expect(brief(plain.fields)).toEqual(expected)
      expect([plain.rows, plain.isWhole]).toEqual([10_000, false])
      expect(await analyzeFile({ path })).toEqual(plain)
    },
  )
})

test('the head of a large file is not all that is seen: pieces of its middle and end show later values', async () => {
  const row = (id: number, note: string) => `{"id":"r${id}","note":"${note}","pad":"${'x'.repeat(900)}"}`
  const rows = Array.from({ length: 23_000 }, (_, id) => row(id, id < 7000 ? '' : 'later'))
  const shapes = {
    'a.ndjson': rows.join('\n'),
    'a.json': `{"items":[${rows.join(',\n')}]}`,
    'a.csv': `id,note,pad\n${rows.map((text) => Object.values(JSON.parse(text) as object).join(',')).join('\n')}`,
    'a.xml': `<f>${rows
      .map((text) => {
        const { id, note, pad } = JSON.parse(text) as Record<string, string>
        return `<e><id>${id}</id><note>${note}</note><pad>${pad}</pad></e>`
      })
      .join('\n')}</f>`,
  }
  for (const [name, content] of Object.entries(shapes)) {
    const analysis = await analyzeFile({ path: await files.write(name, content), fileName: name })
    expect([name, analysis.rows, analysis.isWhole, analysis.faults]).toEqual([name, 10_000, false, []])
    expect(brief(analysis.fields).slice(0, 2)).toEqual(['id: reference_id < id', 'note: string? < note'])
  }
})

test('entries that hold what begins like an entry are not taken for one another', async () => {
  const entry = (id: number) => ({
    id: `r${id}`,
    brand: { id: 1, name: 'b' },
    variants: [{ id: 5 }, { id: 6 }],
    a: 1,
    b: 2,
    pad: 'x'.repeat(900),
  })
  const json = JSON.stringify({ items: Array.from({ length: 14_000 }, (_, id) => entry(id)) })
  const xml = `<f>${Array.from({ length: 14_000 }, (_, id) => `<e><id>r${id}</id><in><e><id>7</id></e></in><a>1</a><b>2</b><pad>${'x'.repeat(900)}</pad></e>`).join('')}</f>`
  for (const [name, content] of Object.entries({ 'a.json': json, 'a.xml': xml })) {
    const analysis = await analyzeFile({ path: await files.write(name, content) })
    expect(analysis.rows).toBeGreaterThan(7000)
    expect(brief(analysis.fields)[0]).toBe('id: reference_id < id')
    expect(analysis.fields.filter(({ ignoreIfMissing }) => ignoreIfMissing)).toEqual([])
  }
})

test('the sample of a stream does not depend on how it is cut', async () => {
  const text = `id;preis\n${Array.from({ length: 12_000 }, (_, id) => `${id};${id},50\n`).join('')}`
  const options = { format: 'csv', csvDelimiter: ';' } as const
  const [first, ...others] = await Promise.all(
    [64 * 1024, 1000, 777].map((pieceBytes) =>
      sampleRows({ stream: streamOf(Buffer.from(text), pieceBytes) }, options),
    ),
  )
  expect([first?.rows.length, first?.isWhole]).toEqual([10_000, false])
  for (const other of others) expect(other).toEqual(first)
})

test('any rows give fields that the contract allows, the same each time', () => {
  const row = fc.dictionary(
    fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('id', 'price', '__proto__', 'a.b', '*', 'date')),
    fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(
        '12,50',
        '1.234',
        '31.12.2025',
        '1/2/25',
        'yes',
        'no',
        'https://a.example/b.png',
        '-',
        'a|b',
      ),
    ),
    { maxKeys: 6 },
  )
  fc.assert(
    fc.property(fc.array(row, { maxLength: 8 }), (rows) => {
      const fields = analyzeRows(rows)
      for (const field of fields) expect(Value.Errors(schema, field)).toEqual([])
      for (const field of fields) expect(field.name).toMatch(/^[a-z][a-z0-9_-]*$/)
      expect(new Set(fields.map(({ name }) => name)).size).toBe(fields.length)
      expect(analyzeRows(structuredClone(rows))).toEqual(fields)
    }),
    { numRuns: times(5000, 300) },
  )
})

test('values and names as long as an entry may be take no longer than others (D06)', async () => {
  const long = 'A'.repeat(250_000)
  const rows: RawRow[] = [
    long,
    `${long} `,
    `//${'a.'.repeat(100_000)} x`,
    '1'.repeat(250_000),
    ' '.repeat(250_000),
  ].map((value) => ({ [long]: value, b: value, [`${value}:`]: 1 }))
  await expect(() => analyzeRows(rows)).toCostAtMost(50, () => JSON.parse(JSON.stringify(rows)))
})

test('what is known of a source outranks what is detected', async () => {
  const path = await files.write('x.txt', 'a;b|c\nx|3\ny|4\n')
  const given = await analyzeFile({ path, options: { csvDelimiter: '|' }, source: 2 })
  expect(given.fields.map(({ rulesPerSources }) => rulesPerSources)).toEqual([
    { '2': [{ name: 'path', params: { value: 'a;b' } }] },
    { '2': [{ name: 'path', params: { value: 'c' } }] },
  ])
  const unnamed = await analyzeFile({ path, options: { csvDelimiter: ';', csvColumns: ['x', 'y'] } })
  expect(brief(unnamed.fields)).toEqual(['x: string < x', 'y: array_string < y split |'])
  expect([unnamed.rows, unnamed.faults.length]).toEqual([1, 2])
})
