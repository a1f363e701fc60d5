import { type Static, Type } from 'typebox'
import {
  dateTime,
  filled,
  integer,
  like,
  lineText,
  listOf,
  mapOf,
  named,
  nullable,
  object,
  oneOf,
  optionals,
  text,
} from './formats.ts'

export const sourceFormats = ['csv', 'json', 'ndjson', 'xml', 'xlsx', 'parquet'] as const
export const sourceCompressions = ['gzip', 'zip'] as const
export const sourceTypes = ['file', 'url'] as const

/** What is not given is detected from the content; what would never be used, beside the others, is refused. */
const options = optionals({
  format: oneOf(sourceFormats, 'Form of the content'),
  compression: oneOf(
    sourceCompressions,
    'For `csv`, `json`, `ndjson` and `xml`: what the content is packed in',
  ),
  encoding: lineText(
    'For `csv`, `json`, `ndjson` and `xml`: character encoding, as the Encoding Standard names it: `utf-8`, `windows-1252`',
    40,
  ),
  csvDelimiter: filled('For `csv`: what separates the values of a line', 1, ';'),
  csvColumns: Type.Array(lineText('Name of a column', 200), {
    minItems: 1,
    maxItems: 2_000,
    description: 'For `csv` without a header: its first line is a row too',
  }),
  rootPath: lineText('For `json` and `xml`: where the rows are, as `products.*`', 500),
  sheet: lineText('For `xlsx`: sheet of the workbook; the first when absent', 200),
  entry: lineText('For `zip`: file of the archive; the largest of a known format when absent', 500),
})

/** Where the rows of a worker datasource come from, as it is given. */
export const DatasourceSource = named('DatasourceSource', {
  type: oneOf(sourceTypes, '`file`: uploaded; `url`: fetched from an address'),
  url: Type.Optional(filled('For `url`: a public address', 2_048, 'https://shop.example/products.csv')),
  headers: Type.Optional(
    mapOf(Type.String({ maxLength: 4_096 }), {
      maxProperties: 20,
      description:
        'For `url`: headers of the request by name, kept encrypted and never answered; a change of `source` without them keeps those that are stored as long as the host stays',
      examples: [{ authorization: 'Bearer …' }],
    }),
  ),
  ...options,
})
export type DatasourceSource = Static<typeof DatasourceSource>

/** The file that is stored. */
const Content = object({
  bytes: Type.Integer({ minimum: 0 }),
  fileName: nullable(like('products.csv.gz')),
  sha256: text('Of the bytes as they were sent, hexadecimal'),
  uploadedAt: dateTime('When it was stored'),
})

/** The same as it is answered. */
export const StoredDatasourceSource = named('StoredDatasourceSource', {
  type: oneOf(sourceTypes),
  url: Type.Optional(text('The address')),
  headerNames: Type.Optional(
    listOf(Type.String(), 'Names of the headers that are sent; values are never answered'),
  ),
  ...options,
  content: Type.Optional(Content),
})
export type StoredDatasourceSource = Static<typeof StoredDatasourceSource>

/** When rows are fetched again; one of `cron` and `everyMinutes`. */
export const RefreshSchedule = named('RefreshSchedule', {
  ...optionals({
    cron: filled(
      'Minute, hour, day of month, month, day of week (0 and 7 are Sunday); runs are at least 5 minutes apart',
      200,
      '0 5 * * *',
    ),
    everyMinutes: integer(5, 44_640, 'Minutes between two runs', 60),
    timezone: filled('IANA name, for `cron`; the company’s time zone when absent', 64, 'Europe/Paris'),
  }),
})
export type RefreshSchedule = Static<typeof RefreshSchedule>
