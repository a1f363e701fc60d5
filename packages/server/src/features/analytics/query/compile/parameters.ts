import type { ColumnarParam } from '../../../../platform/stores/columnar.ts'

/** ClickHouse types of bound values. */
type ParameterType =
  | 'String'
  | 'Int64'
  | 'Float64'
  | 'UInt32'
  | 'Decimal(38, 10)'
  | "DateTime64(3, 'UTC')"
  | 'Array(String)'
  | 'Array(UInt16)'
  | 'Array(Int64)'

export interface Statement {
  readonly sql: string
  readonly params: Readonly<Record<string, ColumnarParam>>
}

/**
 * Values of one statement. Input becomes a placeholder here and reaches the engine apart from the text: there is no
 * other way from a query into SQL.
 */
export type Parameters = ReturnType<typeof createParameters>

export function createParameters() {
  const values: Record<string, ColumnarParam> = {}
  const known = new Map<string, string>()
  const defined = new Map<string, string>()
  return {
    /**
     * The name of a scalar that is computed once for the whole statement; `sql` is a SELECT of one row and column.
     */
    define(sql: string): string {
      const name = defined.get(sql) ?? `scalar_${defined.size + 1}`
      defined.set(sql, name)
      return name
    },
    /** The whole statement: the scalars in the order of their definition, then `sql`, with the values. */
    statement(sql: string): Statement {
      const scalars = [...defined].map(([scalar, name]) => `${nested(scalar)} AS ${name}`)
      const prelude = scalars.length === 0 ? '' : `WITH ${scalars.join(', ')}\n`
      return { sql: prelude + sql, params: Object.freeze({ ...values }) }
    },
    /** The placeholder that stands for the value: `{p3:String}`. */
    bind(type: ParameterType, value: ColumnarParam): string {
      const same = `${type}\n${JSON.stringify(value)}`
      let placeholder = known.get(same)
      if (placeholder === undefined) {
        const name = `p${known.size + 1}`
        values[name] = value
        placeholder = `{${name}:${type}}`
        known.set(same, placeholder)
      }
      return placeholder
    },
  }
}

/** A query as a relation, in parentheses and indented. */
export function nested(sql: string): string {
  return `(\n  ${sql.replaceAll('\n', '\n  ')}\n)`
}

/** A SELECT; conditions are joined by and, and `rest` follows them. */
export function select(
  columns: readonly string[],
  from: string,
  conditions: readonly string[] = [],
  rest = '',
): string {
  const where = conditions.length > 0 ? `\nWHERE ${conditions.join('\n  AND ')}` : ''
  return `SELECT ${columns.join(', ')}\nFROM ${from}${where}${rest}`
}
