import { idPattern, keyPattern } from '../../packages/contract/src/resources/formats.ts'
import {
  Binding,
  Edge,
  ExpressionShape,
  nodeSchemas,
} from '../../packages/contract/src/resources/workflow-definition.ts'
import { Entrypoint } from '../../packages/contract/src/resources/workflow-entrypoint.ts'
import { table } from './markdown.ts'

/** What the table reads of a JSON schema. */
interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | false
  readonly items?: Schema
  readonly pattern?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly description?: string
  readonly title?: string
}

const code = (text: string): string => `\`${text}\``
const bindingTitle = (Binding as Schema).title

/** What a field holds: a word or two, and the bounds of a number. */
function formOf(schema: Schema): string {
  if (schema.title === bindingTitle) return 'binding'
  if (schema === ExpressionShape) return 'expression'
  if (schema.enum) return schema.enum.map(code).join(', ')
  switch (schema.type) {
    case 'array':
      return `list: ${formOf(schema.items ?? {})}`
    case 'object':
      return schema.additionalProperties ? `${formOf(schema.additionalProperties)} by name` : 'object'
    case 'boolean':
      return '`true` or `false`'
    case 'integer':
    case 'number': {
      const least = schema.minimum ?? `above ${schema.exclusiveMinimum}`
      return `${schema.type === 'integer' ? 'whole number' : 'number'}, ${least} to ${schema.maximum}`
    }
    default:
      return schema.pattern === idPattern
        ? '24 hexadecimal characters'
        : schema.pattern === keyPattern
          ? 'id'
          : 'text'
  }
}

/** The fields of a part and of what lies in it, by their paths; `[]` stands for each item of a list. */
function fieldsOf({ properties = {}, required = [] }: Schema, before = ''): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (before === '' && 'const' in schema) return []
    const path = `${before}${name}`
    const inner = schema.type === 'array' ? (schema.items ?? {}) : schema
    const below = schema === ExpressionShape ? [] : fieldsOf(inner, `${path}${inner === schema ? '' : '[]'}.`)
    const { description } = schema
    if (description === undefined) throw new Error(`${path} of a definition has no description`)
    const shown = `${code(path)}${required.includes(name) ? '' : '?'}`
    return [[shown, formOf(schema), description], ...below]
  })
}

/** Every field of entrypoints, edges and nodes below the name of the part; `?` marks those that may be left out. */
export function definitionPartsTable(): string {
  const parts: [string, Schema][] = [
    ['entrypoint', Entrypoint as Schema],
    ['edge', Edge as Schema],
    ...Object.entries(nodeSchemas).map(([type, schema]): [string, Schema] => [code(type), schema as Schema]),
  ]
  const rows = parts.flatMap(([part, schema]) => {
    const fields = fieldsOf(schema).filter(([field]) => field !== '`name`?' || !part.startsWith('`'))
    return fields.length === 0 ? [] : [[`**${part}**`, '', ''], ...fields]
  })
  return table(['field', 'holds', 'meaning'], rows)
}
