import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Principal } from '../../src/features/identity/sessions/principal.ts'
import { createPreviewService } from '../../src/features/personalisation/display/preview-service.ts'
import {
  analysisOf,
  createRunnerWorld,
  runnerClickKey,
  runnerCompany,
  runnerTime,
  straight,
  utcClock,
} from '../support/runner.ts'
import { callerToken } from '../support/service.ts'
import { openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

let world: WorkerDatasources

beforeAll(async () => {
  world = await openWorkerDatasources()
})

afterAll(() => world.close())

async function call(method: 'GET' | 'POST' | 'PUT', path: string, payload?: object, headers = {}) {
  const reply = await world.app.inject({
    method,
    url: `/v2${path}`,
    headers: { ...callerToken, ...headers },
    ...(payload && { payload }),
  })
  if (reply.statusCode !== 200) throw new Error(reply.body)
  return reply.json().data
}

test('a preview shows no rows of a datasource that no team of the user or of the workflow sees, whatever the draft names', async () => {
  const { id: datasourceId } = await world.live('sku,price\nA1,19\n', [{ name: 'sku' }, { name: 'price' }])
  const other = await call('POST', '/entities/teams', { name: 'Other' })
  const definition = straight(
    { type: 'web', format: 'embed-html' },
    { type: 'html', html: '<p>{{price}}</p>', bindings: { price: { node: 'rows', field: 'price' } } },
    { rows: { type: 'datasource', datasourceId: datasourceId.toUpperCase() } },
  )
  const present = world.caller.teamIds
  const previewAs = async (teamIds: string[], teamId = teamIds[0]) => {
    world.caller.teamIds = teamIds
    try {
      const workflow = await call('POST', '/workflows', { name: 'Curious', resourceGroupIds: [teamId] })
      const [draft] = workflow.versions
      const ifMatch = { 'if-match': `"${draft.revision}"` }
      await call('PUT', `/workflows/${workflow.id}/versions/${draft.id}`, { definition }, ifMatch)
      return await call('POST', `/workflows/${workflow.id}/preview`, { entrypointId: 'zone' })
    } finally {
      world.caller.teamIds = present
    }
  }
  const seen = await previewAs(present)
  expect([seen.output.body, seen.returnCode]).toEqual(['<p>19</p>', ''])
  const unseen = await previewAs([other.id])
  expect([unseen.output.body, unseen.returnCode]).toEqual(['<p></p>', '3502'])
  expect(unseen.steps[0]).toMatchObject({
    node: 'rows',
    output: null,
    fault: `none of your teams sees a datasource ${datasourceId}`,
  })
  // What publishing would refuse is not shown either.
  const ofOtherTeam = await previewAs([...present, other.id], other.id)
  expect([ofOtherTeam.output.body, ofOtherTeam.returnCode]).toEqual(['<p></p>', '3502'])
  expect(ofOtherTeam.steps[0]).toMatchObject({
    fault: `none of the workflow's teams sees the datasource ${datasourceId}`,
  })
})

test('a preview shows of a person only what datasources have that both the user and the workflow’s teams see', async () => {
  const { runner, events } = createRunnerWorld()
  const [seen, ofUser, ofWorkflow] = [
    '65f0c0ffee5ca1ab1e0dda01',
    '65f0c0ffee5ca1ab1e0dda02',
    '65f0c0ffee5ca1ab1e0dda03',
  ] as const
  const [userTeam, workflowTeam] = ['65f0c0ffee5ca1ab1e0ddb01', '65f0c0ffee5ca1ab1e0ddb02'] as const
  for (const datasourceId of [seen, ofUser, ofWorkflow])
    events.push({
      name: datasourceId,
      time: new Date(runnerTime),
      datasourceId,
      url: '',
      ids: [],
      labels: {},
    })
  const definition = straight(
    { type: 'web', format: 'embed-html' },
    {
      type: 'html',
      html: '{{names}}',
      bindings: { names: { node: 'done', field: 'name', all: true } },
    },
    { done: { type: 'events', lookBackHours: 1 } },
  )
  const previews = createPreviewService({
    readVersion: async () => ({
      workflowId: '65f0c0ffee5ca1ab1e0ddc01',
      teamIds: [workflowTeam],
      versionId: '65f0c0ffee5ca1ab1e0ddc21',
      definition,
      analyze: analysisOf(definition),
      templates: {},
      faults: [],
    }),
    readCompany: async () => ({
      timezone: 'UTC',
      countries: true,
      eventsDatasourceId: undefined,
      clickKey: runnerClickKey,
    }),
    listExperiments: async () => [],
    listSeenDatasources: async ({ teamIds }) =>
      teamIds.includes(userTeam) ? [seen, ofUser] : [seen, ofWorkflow],
    environmentOf: runner.environmentOf,
    readSender: () => ({ deviceType: 'desktop', os: 'macOS', browser: 'Safari' }),
    openZone: () => utcClock,
    publicUrl: () => 'https://millrace.example',
    timeLimitMs: 200,
    clock: { now: () => runnerTime },
  })
  const principal = { companyId: runnerCompany, teamIds: [userTeam] as readonly string[] } as Principal
  const { output } = await previews.preview(principal, '65f0c0ffee5ca1ab1e0ddc01', {
    entrypointId: 'zone',
    person: { client: 'ada' },
  })
  expect(output.body).toBe(seen)
})
