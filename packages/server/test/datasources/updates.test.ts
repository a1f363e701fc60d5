import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { times } from '../support/long.ts'
import { fieldOf, openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

/** What imports leave, against a map that is filled in the same order. */

let world: WorkerDatasources

beforeAll(async () => {
  world = await openWorkerDatasources()
})

afterAll(() => world.close())

const fields = [fieldOf({ name: 'sku', isKey: true }), fieldOf({ name: 'name' })]

interface Line {
  readonly sku: string
  readonly name: string
}

const lines = fc.array(
  fc.record({
    sku: fc.integer({ min: 0, max: 12 }).map((n) => `K${n}`),
    name: fc.constantFrom('a', 'b', 'c "quoted"', 'd\te\\f'),
  }),
  { minLength: 1, maxLength: 15 },
)

const contentOf = (rows: readonly Line[]) => rows.map((row) => JSON.stringify(row)).join('\n')

/** Rows with the same key: the last one counts, where it stands. */
function lastOfEach(rows: readonly Line[]): Line[] {
  const last = new Map(rows.map((row) => [row.sku, row]))
  return rows.filter((row) => last.get(row.sku) === row)
}

/** Known keys keep their place, others come behind them. */
function merged(present: readonly Line[], given: readonly Line[]): Line[] {
  const unique = lastOfEach(given)
  const byKey = new Map(unique.map((row) => [row.sku, row]))
  const known = new Set(present.map(({ sku }) => sku))
  return [...present.map((row) => byKey.get(row.sku) ?? row), ...unique.filter(({ sku }) => !known.has(sku))]
}

test.each(['replace', 'upsert'] as const)(
  '%s leaves the rows that a plain computation gives',
  async (updateStrategy) => {
    await fc.assert(
      fc.asyncProperty(fc.array(lines, { minLength: 2, maxLength: 4 }), async ([first = [], ...updates]) => {
        const source = { type: 'file', format: 'ndjson' }
        const { id } = await world.live(contentOf(first), fields, { updateStrategy, source })
        let expected = lastOfEach(first)
        const revisions = new Set<string | undefined>()
        for (const update of updates) {
          expect((await world.upload(id, contentOf(update))).status).toBe(200)
          expect(await world.work()).toBe(1)
          expected = updateStrategy === 'upsert' ? merged(expected, update) : lastOfEach(update)
          expect(await world.rows(id)).toEqual(expected)
          const { versions } = (
            await world.call<{ versions: { rows?: number; revision?: string }[] }>('GET', `/${id}`)
          ).data
          expect(versions[1]?.rows).toBe(expected.length)
          revisions.add(versions[1]?.revision)
        }
        expect(revisions.size).toBe(updates.length)
      }),
      { numRuns: times(30, 1) },
    )
  },
)

test('readers find the former rows or the later ones, whole, while an import runs', async () => {
  const count = 3_000
  const rowsOf = (name: string) =>
    contentOf(Array.from({ length: count }, (_, i) => ({ sku: `K${i}`, name })))
  const source = { type: 'file', format: 'ndjson' }
  for (const updateStrategy of ['replace', 'upsert'] as const) {
    const { id } = await world.live(rowsOf('former'), fields, { updateStrategy, source })
    await world.upload(id, rowsOf('later'))
    const working = { isOver: false }
    const work = world.work().then(() => {
      working.isOver = true
    })
    const seen = new Set<string>()
    while (!working.isOver) {
      const reply = await world.call('POST', '/query?perPage=1', {
        datasourceId: id,
        query: { name: { $eq: 'former' } },
      })
      seen.add(String(reply.paginationCount))
    }
    await work
    expect([...seen].filter((each) => each !== '0' && each !== String(count))).toEqual([])
    expect(seen).toContain(String(count))
    expect((await world.rows(id)).every(({ name }) => name === 'later')).toBe(true)
  }
})
