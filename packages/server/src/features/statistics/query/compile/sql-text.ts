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
