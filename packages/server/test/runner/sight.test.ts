import { beforeEach, expect, test } from 'vitest'
import type { ListSeenDatasources } from '../../src/features/personalisation/display/runner-service.ts'
import { createRunnerWorld, htmlZone, runnerCompany, runnerTime, straight } from '../support/runner.ts'

const shop = '65f0c0ffee5ca1ab1e0dda11'
const other = '65f0c0ffee5ca1ab1e0dda12'
const teamIds = ['65f0c0ffee5ca1ab1e0ddb01', '65f0c0ffee5ca1ab1e0ddb02']

let asked: Parameters<ListSeenDatasources>[0][]
let seen: readonly string[] | Error
let runner: ReturnType<typeof createRunnerWorld>

beforeEach(async () => {
  asked = []
  seen = [shop]
  runner = createRunnerWorld({
    async listSeenDatasources(viewer) {
      asked.push({ companyId: viewer.companyId, teamIds: viewer.teamIds })
      if (seen instanceof Error) throw seen
      return seen
    },
  })
  for (const [name, datasourceId] of [
    ['bought', shop],
    ['called', other],
  ] as const)
    runner.events.push({ name, time: new Date(runnerTime), datasourceId, url: '', ids: [], labels: {} })
  const names = { node: 'done', field: 'name', all: true }
  await runner.publish({
    teamIds,
    definition: straight(
      htmlZone,
      { type: 'html', html: 'done: {{names}}', bindings: { names } },
      { done: { type: 'events', lookBackHours: 1 } },
    ),
  })
})

const shown = async () => (await runner.get('/r/abcdef1234?trk-u=ada')).body

test('a run reads of a person only events of datasources that one of the workflow’s teams sees', async () => {
  expect(await shown()).toBe('done: bought')
  expect(asked).toEqual([{ companyId: runnerCompany, teamIds }])
})

test('what teams see is asked for once for runs of one moment, and followed within 800 ms', async () => {
  expect(await Promise.all([shown(), shown()])).toEqual(['done: bought', 'done: bought'])
  seen = [shop, other]
  runner.world.now += 399
  expect(await shown()).toBe('done: bought')
  expect(asked).toHaveLength(1)
  // From now on it is asked for beside a run, and from 800 ms on before it.
  runner.world.now += 1
  expect(await shown()).toBe('done: bought')
  await expect.poll(shown).toBe('done: bought, called')
  expect(asked).toHaveLength(2)
  seen = [other]
  runner.world.now += 800
  expect(await shown()).toBe('done: called')
})

test('what was last known stands while the database is down; without it the node fails', async () => {
  seen = new Error('the database is down')
  expect(await shown()).toBe('done: ')
  expect(runner.recorded[0]?.data.returnCode).toBe('3502')
  seen = [shop]
  expect(await shown()).toBe('done: bought')
  seen = new Error('the database is down')
  runner.world.now += 10_000
  expect(await shown()).toBe('done: bought')
})
