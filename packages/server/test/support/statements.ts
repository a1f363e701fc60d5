import pg from 'pg'

/** The statements that the work sends, without their values. The job queue starts in the background: its own are left out. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = []
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function spy(this: pg.Client, ...parts: unknown[]) {
    const [first] = parts as [string | { text: string }]
    const text = typeof first === 'string' ? first : first.text
    if (!text.includes('jobs.')) statements.push(text)
    return Reflect.apply(query, this, parts)
  } as typeof query
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return statements
}
