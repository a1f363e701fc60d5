import type { TSchema } from 'typebox'

/** A schema or a part of the document as plain JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

const componentName = /^[A-Z][A-Za-z0-9]*$/

/**
 * Gathers schemas into `components.schemas` while they are written in the dialect of OpenAPI 3.1
 * (JSON Schema 2020-12): a schema whose title is a name in Pascal case becomes a component and is referred
 * to, tuples become `prefixItems`. The components appear in the order in which they are met first.
 */
export class SchemaCollector {
  readonly components = new Map<string, Json>()
  readonly #sources = new Map<string, string>()

  /** @throws Error when two different schemas have the same title */
  write(schema: TSchema): JsonObject {
    const plain = JSON.parse(JSON.stringify(schema)) as JsonObject
    return this.#refer(plain) as JsonObject
  }

  #refer(schema: Json): Json {
    if (schema === null || typeof schema !== 'object') return schema
    if (Array.isArray(schema)) return schema.map((each) => this.#refer(each))
    const { title } = schema
    if (typeof title !== 'string' || !componentName.test(title)) return this.#inside(schema)
    const source = JSON.stringify(schema)
    const known = this.#sources.get(title)
    if (known !== undefined && known !== source) throw new Error(`Two schemas have the title ${title}`)
    if (known === undefined) {
      this.#sources.set(title, source)
      this.components.set(title, null)
      this.components.set(title, this.#inside(schema))
    }
    return { $ref: `#/components/schemas/${title}` }
  }

  #inside(schema: JsonObject): Json {
    const written: JsonObject = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties') written.properties = this.#each(value as JsonObject)
      else if (keyword === 'items' && Array.isArray(value)) {
        written.prefixItems = value.map((item) => this.#refer(item))
        written.items = false
      } else if (keyword === 'additionalItems') continue
      else if (['items', 'additionalProperties', 'anyOf'].includes(keyword)) {
        written[keyword] = this.#refer(value)
      } else written[keyword] = value
    }
    return written
  }

  #each(properties: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, this.#refer(property)]),
    )
  }
}
