/** The keywords from which an example can be built. */
export interface SchemaLike {
  readonly type?: string
  readonly properties?: Readonly<Record<string, SchemaLike>>
  readonly required?: readonly string[]
  readonly items?: SchemaLike | readonly SchemaLike[]
  readonly anyOf?: readonly SchemaLike[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly readOnly?: boolean
}

/** Whether a schema says itself what a value of it looks like. */
function speaks(schema: SchemaLike): boolean {
  return (
    schema.examples !== undefined ||
    schema.const !== undefined ||
    schema.default !== undefined ||
    schema.enum !== undefined ||
    (schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0)
  )
}

function objectExample(schema: SchemaLike): Record<string, unknown> {
  const example: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (schema.required?.includes(name) || property.examples !== undefined)
      example[name] = exampleOf(property)
  }
  return example
}

/**
 * A value that a reply of this schema can be, for documents: what the schema itself gives as an example
 * where it does, required fields always, optional ones where they have an example.
 */
export function exampleOf(schema: SchemaLike): unknown {
  if (schema.examples !== undefined) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum !== undefined) return schema.enum[0]
  const [first] = schema.anyOf ?? []
  if (first !== undefined) return exampleOf(first)
  switch (schema.type) {
    case 'object':
      return objectExample(schema)
    case 'array': {
      const items = Array.isArray(schema.items) ? schema.items : schema.items ? [schema.items] : []
      return items.filter(speaks).map(exampleOf)
    }
    case 'string':
      return 'text'
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    default:
      return null
  }
}
