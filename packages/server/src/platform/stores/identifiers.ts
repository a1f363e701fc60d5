/** A name of a table or a column in a statement of ClickHouse, whatever characters it has. */
export function quoteIdentifier(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}
