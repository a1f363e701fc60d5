import pg from 'pg'

/**
 * What depends on the time that has passed and not on the request: notices, the check of a connection, the time of a
 * test on it, and who holds a token, which is remembered for a few seconds.
 */
const ofBackground = /^listen |^select set_config\(\$1, \$2, false\)$|^\s*select token\.token_hash,/i

/** The statements that the work sends, without their values. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = []
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function spy(this: pg.Client, ...parts: unknown[]) {
    const [first] = parts as [string | { text: string }]
    const text = typeof first === 'string' ? first : first.text
    if (!ofBackground.test(text)) statements.push(text)
    return Reflect.apply(query, this, parts)
  } as typeof query
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return statements
}
