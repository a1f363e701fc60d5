import { type Static, Type } from 'typebox'
import { flag, like, mapOf, named, object, oneOf } from './formats.ts'

/** Types of a field. */
export const fieldTypes = [
  'string',
  'number',
  'datetime',
  'datetime_iso',
  'boolean',
  'address_1',
  'address_2',
  'address_3',
  'address_4',
  'city',
  'zipcode',
  'country',
  'latitude',
  'longitude',
  'reference_id',
  'reference_ids',
  'product_id',
  'price',
  'url',
  'image_url',
  'name',
  'description',
  'product_lifetime',
  'locale',
  'array_string',
  'array_number',
  'record_string',
  'record_number',
  'company_id',
  'event_name',
  'event_id',
  'user_tmp_id',
  'user_agent',
  'workflow_id',
  'workflow_version_id',
  'workflow_event_mode',
  'transaction_id',
  'transaction_source',
  'transaction_metadata',
  'product_quantity',
  'workflow_purchase_user',
  'workflow_user',
  'workflow_onsite_user',
  'user_birthday',
  'user_age',
] as const

export const fieldPrimitives = [
  'string',
  'number',
  'boolean',
  'datetime',
  'datetime_iso',
  'string[]',
  'number[]',
  'string{}',
  'number{}',
] as const

export const fieldLocales = ['de', 'fr', 'ja', 'pt', 'nl', 'zh', 'ru', 'es', 'uk', 'en'] as const

const FieldRule = named('FieldRule', { name: like('path'), params: mapOf(Type.Unknown()) })

/** One field that the analysis of a datasource proposes (docs/interface.md, Datasource field analysis). */
export const DatasourceField = named('DatasourceField', {
  name: like('price'),
  type: oneOf(fieldTypes, { description: 'What the values mean', examples: ['price'] }),
  selected: flag('Whether the field is kept; false in a proposal'),
  primitive: oneOf(fieldPrimitives, { description: 'How the values are stored', examples: ['number'] }),
  rulesPerSources: mapOf(Type.Array(FieldRule), {
    description: 'From the index of a source (`"0"` is the first) to the steps that give the value',
    examples: [{ '0': [{ name: 'path', params: { value: 'price' } }] }],
  }),
  source: oneOf(['user', 'user_static', 'missing_fields', 'aggregation']),
  ignoreIfMissing: flag(
    'Whether an entry without a value is kept, without it; in a proposal, whether one was missing',
  ),
  metadata: object({ locale: Type.Optional(oneOf(fieldLocales, 'Language that values are read in')) }),
})
export type DatasourceField = Static<typeof DatasourceField>
