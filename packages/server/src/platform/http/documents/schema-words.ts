/** The keywords of a schema that the documents show. */
export interface DocumentedSchema {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, DocumentedSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | DocumentedSchema
  readonly items?: DocumentedSchema | readonly DocumentedSchema[]
  readonly anyOf?: readonly DocumentedSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly readOnly?: boolean
}

export interface FieldRow {
  /** From the root, with `[]` for items and `*` for the keys of a map: `filters[].values`. */
  readonly path: string
  readonly type: string
  readonly required: boolean
  /** Sentences, in the contract's markdown. */
  readonly notes: readonly string[]
}

/** Longer lists of words are shown in the notes. */
const wordsInType = 3

function isTuple(items: DocumentedSchema['items']): items is readonly DocumentedSchema[] {
  return Array.isArray(items)
}

function valuesOf(schema: DocumentedSchema): DocumentedSchema | undefined {
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}

/** Whether it is an object with fields of its own, not a map. */
function isRecord(schema: DocumentedSchema): boolean {
  return schema.type === 'object' && schema.properties !== undefined
}

/** The type of a value in words: `integer`, `string[]`, `asc | desc`, `map of number`. */
export function typeWords(schema: DocumentedSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) {
    return schema.enum.length > wordsInType
      ? 'string'
      : schema.enum.map((word) => JSON.stringify(word)).join(' | ')
  }
  if (schema.anyOf !== undefined) {
    // Of an object in two forms the fields and the description tell more.
    const words = schema.anyOf.map((each) =>
      each.type === 'object' && schema.anyOf?.some(isRecord) ? 'object' : typeWords(each),
    )
    return [...new Set(words)].join(' or ')
  }
  switch (schema.type) {
    case 'array': {
      if (isTuple(schema.items)) return `[${schema.items.map(typeWords).join(', ')}]`
      const item = schema.items ? typeWords(schema.items) : 'any'
      return /[ |]/.test(item) ? `(${item})[]` : `${item}[]`
    }
    case 'object': {
      const values = valuesOf(schema)
      const inside = values ? typeWords(values) : 'any'
      return values && inside !== 'any' ? `map of ${inside}` : 'object'
    }
    case 'string':
      if (schema.format === 'date-time') return 'date-time'
      return schema.pattern?.includes('{24}') ? 'id' : 'string'
    default:
      return schema.type ?? 'any'
  }
}

const number = new Intl.NumberFormat('en')

function between(low: number | undefined, high: number | undefined, unit = ''): string | undefined {
  const words = (value: number) => number.format(value)
  if (low !== undefined && high !== undefined) return `${words(low)} to ${words(high)}${unit}`
  if (high !== undefined) return `at most ${words(high)}${unit}`
  return low ? `at least ${words(low)}${unit}` : undefined
}

/** What a value must keep to, beyond its type. */
function boundWords(schema: DocumentedSchema): string[] {
  const [value, ...more] = schema.anyOf?.filter(({ type }) => type !== 'null') ?? []
  if (value && more.length === 0) return boundWords(value)
  const bounds = [
    schema.enum && schema.enum.length > wordsInType
      ? `one of ${schema.enum.map((word) => `\`${word}\``).join(', ')}`
      : undefined,
    between(schema.minimum, schema.maximum),
    between(schema.minLength === 1 ? undefined : schema.minLength, schema.maxLength, ' characters'),
    between(schema.minItems, schema.maxItems, ' items'),
    schema.default === undefined ? undefined : `\`${JSON.stringify(schema.default)}\` when absent`,
  ].filter((bound) => bound !== undefined)
  const [first, ...rest] = bounds
  return first === undefined
    ? []
    : [[`${first.charAt(0).toUpperCase()}${first.slice(1)}`, ...rest].join('; ')]
}

/** The schema inside lists, maps, "or null" and "or a map", and how a path goes there. */
function inside(schema: DocumentedSchema): { schema: DocumentedSchema; step: string } {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null')
  const records = others?.filter(isRecord)
  const [single] =
    records?.length === 1 && others?.every(({ type }) => type === 'object') ? records : (others ?? [])
  if (single && (others?.length === 1 || records?.length === 1)) return inside(single)
  if (schema.type === 'array' && schema.items && !isTuple(schema.items)) {
    const item = inside(schema.items)
    return { schema: item.schema, step: `[]${item.step}` }
  }
  const values = schema.type === 'object' ? valuesOf(schema) : undefined
  if (values) {
    const value = inside(values)
    return { schema: value.schema, step: `.*${value.step}` }
  }
  return { schema, step: '' }
}

/** The fields of an object, with those of the objects inside it, as a reader scans them. */
export function fieldRows(schema: DocumentedSchema, prefix = '', depth = 6): FieldRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (property.readOnly) return []
    const path = `${prefix}${name}`
    const within = inside(property)
    const notes = [
      property.description,
      ...boundWords(property),
      ...(within.step === '[]' && !within.schema.properties
        ? boundWords(within.schema).map((words) => `Each: ${words.charAt(0).toLowerCase()}${words.slice(1)}`)
        : []),
    ].filter((note) => note !== undefined)
    const row: FieldRow = {
      path,
      type: typeWords(property),
      required: schema.required?.includes(name) ?? false,
      notes,
    }
    return depth === 0 ? [row] : [row, ...fieldRows(within.schema, `${path}${within.step}.`, depth - 1)]
  })
}

/** Names of the fields that are accepted and ignored. */
export function ignoredFields(schema: DocumentedSchema): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, { readOnly }]) => (readOnly ? [name] : []))
}

/** The forms of a body: those of a union of objects, or the one that it is; lists of objects count as the object. */
export function variantsOf(
  schema: DocumentedSchema,
): { title: string | undefined; schema: DocumentedSchema }[] {
  const variants = new Map<DocumentedSchema, string | undefined>()
  for (const each of schema.anyOf ?? [schema]) {
    const { schema: variant } = inside(each)
    if (variant.properties && ![...variants.keys()].some((known) => known.title === variant.title))
      variants.set(variant, variant.title)
  }
  const several = variants.size > 1
  return [...variants].map(([variant, title]) => ({ title: several ? title : undefined, schema: variant }))
}
