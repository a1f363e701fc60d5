import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ColumnarUnavailable, type Statement } from '../../src/platform/stores/columnar.ts'
import { openPersons, soon } from '../support/persons.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent, testCompany } from '../support/statistics-events.ts'

let engine: StatisticsEngine

beforeAll(async () => {
  engine = await openStatisticsEngine()
})
afterAll(() => engine.close())

const since = new Date(Date.now() - 3_600_000)
const asked = (device: string, signal = soon()) => ({ companyId: testCompany, device, since, signal })
const cohorts = new Map([['cohort', { rule: { event: {} }, listId: null }]])

describe('an answer', () => {
  it('is given again for two seconds, and then read anew', async () => {
    const clock = { time: 1 }
    const persons = openPersons({ columnar: engine.columnar, cohorts, now: () => clock.time })
    const count = async () => (await persons.readPerson(asked('kept'))).events.length
    const isMember = () => persons.isMember({ ...asked('kept'), cohortId: 'cohort' })
    expect([await count(), await isMember()]).toEqual([0, false])
    const sent = persons.statements.length
    await engine.load([storedEvent({ tmpId: 'kept', time: Date.now() })])
    clock.time += 1_999
    expect([await count(), await isMember()]).toEqual([0, false])
    expect(persons.statements).toHaveLength(sent)
    clock.time += 1
    expect([await count(), await isMember()]).toEqual([1, true])
    expect(persons.statements).toHaveLength(2 * sent)
  })

  it('is not given to another company, nor for another cohort', async () => {
    const others = new Map([...cohorts, ['empty', { rule: { event: { events: ['never'] } }, listId: null }]])
    const persons = openPersons({ columnar: engine.columnar, cohorts: others, now: () => 0 })
    await engine.load([storedEvent({ tmpId: 'mine', time: Date.now() })])
    expect((await persons.readPerson(asked('mine'))).events).toHaveLength(1)
    const foreign = { ...asked('mine'), companyId: '64b7f0a1c2d3e4f5a6b7c8ff' }
    expect((await persons.readPerson(foreign)).events).toEqual([])
    expect(await persons.isMember({ ...asked('mine'), cohortId: 'cohort' })).toBe(true)
    expect(await persons.isMember({ ...asked('mine'), cohortId: 'empty' })).toBe(false)
  })
})

describe('an engine that fails', () => {
  it('fails those who ask, and is asked again by the next', async () => {
    let isDown = true
    const persons = openPersons({
      columnar: {
        query: (statement) =>
          isDown
            ? Promise.reject(new ColumnarUnavailable(new Error('down')))
            : engine.columnar.query(statement),
      },
    })
    const failed = await Promise.allSettled(['a', 'b'].map((device) => persons.readPerson(asked(device))))
    for (const each of failed) expect(each).toMatchObject({ reason: { name: 'ColumnarUnavailable' } })
    isDown = false
    expect((await persons.readPerson(asked('a'))).events).toEqual([])
  })

  it('that is silent is waited for no longer than the caller has time, and the statement ends by its own', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const silent = {
      query<R>({ signal }: Statement): Promise<R[]> {
        signals.push(signal)
        return new Promise<R[]>(() => {})
      },
    }
    const persons = openPersons({ columnar: silent, limits: { statementMs: 1_000 } })
    const budget = AbortSignal.timeout(100)
    await expect(persons.readPerson(asked('a', budget))).rejects.toMatchObject({ name: 'TimeoutError' })
    const cancelled = () => signals.map((signal) => signal?.aborted)
    expect(cancelled()).toEqual([false])
    await expect.poll(cancelled).toEqual([true])
  })

  it('that is slower than a statement may be fails it, and is not blocked by it', async () => {
    const persons = openPersons({ columnar: engine.columnar, limits: { statementMs: 1 } })
    await expect(persons.readPerson(asked('a'))).rejects.toThrow('no answer within 1 ms')
    await expect(persons.readPerson(asked('b'))).rejects.toThrow('no answer within 1 ms')
    expect(await openPersons({ columnar: engine.columnar }).readPerson(asked('a'))).toEqual({ events: [] })
  })
})
