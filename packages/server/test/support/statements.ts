import pg from 'pg'

/** Of what listens for notices and asks whether its connection lives, and the time of a test on a connection. */
const ofBackground = /^listen |^select set_config\(\$1, \$2, false\)$/i

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
