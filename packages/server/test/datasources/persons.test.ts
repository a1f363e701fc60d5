import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createWorkerStore } from '../../src/features/datasources/refreshes/worker-store.ts'
import { createRowsOfPersons } from '../../src/features/datasources/rows/rows-of-persons.ts'
import { digestOf, digestsOf, type Kind } from '../../src/features/events/persons/person-digests.ts'
import { until } from '../support/until.ts'
import { fieldOf, openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

/** Rows of datasources that name persons: exported, erased, and not stored again. */

let world: WorkerDatasources
let salt: string

beforeAll(async () => {
  world = await openWorkerDatasources()
  const { rows } = await world.database.pool.query('select person_salt from companies where id = $1', [
    world.companyId,
  ])
  salt = rows[0].person_salt
})
afterAll(() => world.close())
beforeEach(() => world.database.pool.query('delete from erased_identifiers'))

const fields = [
  fieldOf({ name: 'customer', isPerson: true, isKey: true }),
  fieldOf({ name: 'mail', isPerson: true }),
  fieldOf({ name: 'friend' }),
]
const content = [
  { customer: 'ada', mail: 'Ada@Example.com', friend: 'bob' },
  { customer: 'bob', friend: 'ada' },
  { customer: 'eve', mail: 'eve@example.com' },
]
  .map((row) => JSON.stringify(row))
  .join('\n')

const named = (names: { clientIds?: string[]; emails?: string[] }) => ({
  companyId: world.companyId,
  digests: digestsOf({ clientIds: [], tmpIds: [], anonymous: [], emails: [], ...names }, salt),
})
const refuse = (digests: readonly string[]) =>
  world.database.pool.query(
    `insert into erased_identifiers (company_id, digest, refuse_until)
     select $1, unnest($2::text[]), now() + interval '1 day'`,
    [world.companyId, digests],
  )
const customers = async (id: string) => (await world.rows(id)).map(({ customer }) => customer)
const ofPersons = () => createRowsOfPersons(world.database)
const { signal } = new AbortController()

it('the database knows an identifier by the hash that the service makes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Kind>('client', 'device', 'anonymous', 'email'),
      fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
      async (kind, identifier) => {
        const { rows } = await world.database.pool.query('select person_digest($1, $2, $3) as digest', [
          ...[salt, kind, identifier],
        ])
        expect(rows[0].digest).toBe(digestOf(salt, kind, identifier))
      },
    ),
    { numRuns: 50 },
  )
})

it.each([
  ['a clientId', { clientIds: ['ada'] }],
  ['an address, in any case', { emails: ['ADA@example.com'] }],
])('rows go that name the person by %s, and come back with no import', async (_what, names) => {
  const source = { type: 'file', format: 'ndjson' }
  const { id } = await world.live(content, fields, { source })
  const revision = async () => {
    const { data } = await world.call<{ versions: { rows?: number; revision?: string }[] }>('GET', `/${id}`)
    return data.versions[1]
  }
  const before = await revision()
  const person = named(names)
  expect(await ofPersons().count(person, signal)).toBe(1)
  const listed = []
  for await (const each of ofPersons().list(person, signal)) listed.push(each)
  expect(listed).toEqual([{ datasource: id, row: JSON.parse(content.split('\n')[0] ?? '') }])

  await ofPersons().remove(person, signal)
  expect(await customers(id)).toEqual(['bob', 'eve'])
  expect(await ofPersons().count(person, signal)).toBe(0)
  expect(await revision()).toMatchObject({ rows: 2 })
  expect((await revision())?.revision).not.toBe(before?.revision)
  // The file that names the person is gone: what is imported again is uploaded again.
  expect((await world.call('POST', `/${id}/refresh`)).message).toMatch(/content/)

  await refuse(person.digests)
  await world.upload(id, content)
  expect(await world.work()).toBe(1)
  expect(await customers(id)).toEqual(['bob', 'eve'])
  const logs = await world.call<{ kind: string; rule: string; count: number }[]>(
    'GET',
    `/${id}/logs?rule=person_erased`,
  )
  expect(logs.data.map(({ kind, count }) => [kind, count])).toEqual([
    ['dropped', 1],
    ['noted', 1],
  ])
  expect(JSON.stringify(logs.data)).not.toMatch(/ada/i)
})

it('rows of other companies and fields that say nothing of persons stay', async () => {
  const { id } = await world.live(content, fields, { source: { type: 'file', format: 'ndjson' } })
  await ofPersons().remove(
    { ...named({ clientIds: ['eve'] }), companyId: '65f0c0ffee5ca1ab1e0ddb01' },
    signal,
  )
  await ofPersons().remove(named({ clientIds: ['unknown'] }), signal)
  expect(await customers(id)).toEqual(['ada', 'bob', 'eve'])
})

it('a field that names persons is selected, and holds texts or numbers', async () => {
  const { id } = await world.live(content, fields, { source: { type: 'file', format: 'ndjson' } })
  for (const change of [
    { name: 'friend', isPerson: true, selected: false },
    { name: 'friend', isPerson: true, type: 'boolean' },
  ]) {
    const reply = await world.call('PATCH', `/${id}/fields`, { changes: [change] })
    const { errors } = reply.data as unknown as { errors: { path: string }[] }
    expect([reply.status, errors[0]?.path]).toEqual([400, 'fields.2.isPerson'])
  }
})

it('a field that the draft names counts for the rows that are live', async () => {
  const plain = fields.map(({ isPerson: _, ...field }) => field)
  const { id } = await world.live(content, plain, { source: { type: 'file', format: 'ndjson' } })
  const person = named({ clientIds: ['eve'] })
  await ofPersons().remove(person, signal)
  expect(await customers(id)).toContain('eve')
  await world.call('PATCH', `/${id}/fields`, { changes: [{ name: 'customer', isPerson: true }] })
  await ofPersons().remove(person, signal)
  expect(await customers(id)).toEqual(['ada', 'bob'])
})

it('counting ends when its request does, and its connection with it', async () => {
  const { id } = await world.live(content, fields, { source: { type: 'file', format: 'ndjson' } })
  const { pool } = world.database
  const live = await createWorkerStore(world.database.db).findLive(world.companyId, id)
  const holder = await pool.connect()
  try {
    await holder.query(`begin; lock table datasource_rows.v_${live?.id} in access exclusive mode`)
    const leaving = new AbortController()
    const counted = ofPersons().count(named({ clientIds: ['ada'] }), leaving.signal)
    counted.catch(() => {})
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await until(async () => (await pool.query(waits)).rowCount === 1)
    leaving.abort(new Error('the client has left'))
    await expect(counted).rejects.toThrow('the client has left')
  } finally {
    await holder.query('rollback')
    holder.release()
  }
  expect(await ofPersons().count(named({ clientIds: ['ada'] }), signal)).toBeGreaterThan(0)
})
