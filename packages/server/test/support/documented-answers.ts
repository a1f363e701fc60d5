import type { RunQuery } from '../../src/features/reports/evidence/evidence-runner.ts'
import type { ReportWriting } from '../../src/features/reports/report-writing.ts'
import { offerSingleSignOn } from './accounts.ts'
import { testRedirectUri } from './auth.ts'
import { experimentBody } from './experiments.ts'
import { day, hour } from './fake-time.ts'
import { createPlainWriting } from './report-writing.ts'
import { openStatisticsEngine } from './statistics-engine.ts'
import { storedEvent } from './statistics-events.ts'
import { startWebhookServer } from './webhook-server.ts'
import { openWorkflowsApp } from './workflows.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What the documented operations answer about objects that have every documented field. */
export interface DocumentedAnswers {
  /** Bodies by the number of the operation. */
  readonly answers: ReadonlyMap<number, readonly unknown[]>
  /** A fail envelope. */
  readonly failure: unknown
  close(): Promise<void>
}

const worker = '/v2/datasources'
const experiments = '/v2/statistics/experiments'
const reports = '/v2/statistics/reports'
const tags = '/v2/statistics/analytics/settings/tags'
const scim = '/v2/entities/scim'

export async function openDocumentedAnswers(): Promise<DocumentedAnswers> {
  const engine = await openStatisticsEngine()
  const webhooks = await startWebhookServer()
  const plain = createPlainWriting()
  /** Whether the engine answers. */
  let isUp = true
  const columnar = {
    ...engine.columnar,
    stream: (...asked: Parameters<typeof engine.columnar.stream>) =>
      isUp ? engine.columnar.stream(...asked) : Promise.reject(new Error('the engine is down')),
  }
  // Queries whose rows name workflows, and which warn of a parameter that nothing has had.
  const reportWriting = (runQuery: RunQuery): ReportWriting =>
    plain.writing((query, context) =>
      runQuery(
        { ...query, measures: ['workflows.count'], dimensions: ['workflows.id', 'workflows.parameter.none'] },
        context,
      ),
    )
  const flows = await openWorkflowsApp({ columnar, reportWriting, outgoing: webhooks.outgoing })
  const { app, relational, teamId } = flows
  const { companyId, time } = app
  const answers = new Map<number, unknown[]>()
  let { token } = flows.admin

  async function send(method: Method, url: string, body?: unknown) {
    app.cache.forget()
    return app.auth.call(token, method, url, body as never)
  }
  async function make<T = { id: string }>(method: Method, url: string, body?: unknown): Promise<T> {
    const reply = await send(method, url, body)
    if (reply.statusCode !== 200) throw new Error(`${method} ${url}: ${reply.body}`)
    return reply.json().data
  }
  const keep = (number: number, answer: unknown) =>
    answers.set(number, [...(answers.get(number) ?? []), answer])
  /** Asks a documented operation, or another one that answers the same. */
  async function ask<T>(number: number, method: Method, url: string, body?: unknown): Promise<T> {
    const reply = await send(method, url, body)
    if (reply.statusCode !== 200) throw new Error(`operation ${number}: ${reply.body}`)
    keep(number, reply.json())
    return reply.json().data
  }
  async function advance(ms: number): Promise<void> {
    time.advance(ms)
    token = await app.signInAs(flows.admin.email)
  }

  async function askForTokens(): Promise<void> {
    keep(1, (await app.signIn(flows.admin.email)).json())
    const form = {
      ...{ client_id: app.clientId, redirect_uri: testRedirectUri, username: flows.admin.email },
      ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
    }
    const checked = await app.app.inject({
      method: 'POST',
      url: '/v2/oauth/check-email',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString(),
    })
    keep(2, checked.body)
  }

  async function askAboutStatistics(): Promise<void> {
    const query = {
      measures: ['events.count'],
      dimensions: ['events.name'],
      filters: [
        { member: 'events.name', operator: 'equals', values: ['page_view'] },
        { dimension: 'events.os', operator: 'notEquals', values: ['Linux'] },
      ],
      timeDimensions: [
        { dimension: 'events.time', granularity: 'day', dateRange: ['2026-01-01', '2026-01-31'] },
      ],
      ...{ limit: 5, order: { 'events.count': 'desc' } },
    }
    const compared = [
      {
        dimension: 'events.time',
        compareDateRange: [
          ['2026-01-01', '2026-01-31'],
          ['2026-02-01', '2026-02-28'],
        ],
      },
    ]
    await ask(4, 'POST', '/v2/statistics/query', query)
    await ask(4, 'POST', '/v2/statistics/query?format=csv', query)
    await ask(5, 'GET', '/v2/statistics/meta')
    const queries = [query, { ...query, timeDimensions: compared }]
    const saved = {
      name: 'Purchases',
      queries,
      schedule: { frequency: 'daily', time: '08:00', recipients: [flows.admin.email] },
    }
    const { id } = await ask<{ id: string }>(6, 'POST', '/v2/statistics/query/save', saved)
    await ask(7, 'PATCH', `/v2/statistics/query/${id}`, { name: 'Orders' })
  }

  async function addTag() {
    const definition = { name: 'Season', values: ['spring', 'summer'].map((name) => ({ name })) }
    const key = await make<{ id: string; definition: { values: { _id: string }[] } }>('POST', tags, {
      definition,
    })
    const [first, second] = key.definition.values.map(({ _id }) => _id)
    await ask(9, 'DELETE', `${tags}/${key.id}/values/${second}`)
    return { tagKeyId: key.id, tagValueId: first ?? '' }
  }

  /** A published workflow with an integration of a page, that was archived. */
  async function askAboutWorkflows(): Promise<string> {
    const tag = await addTag()
    const profile = await make('POST', '/v2/workflows/variable-profiles', { name: 'Tool', parameters: [] })
    const category = await make('POST', '/v2/workflows/branch-categories', { name: 'Offers' })
    const workflow = await ask<{ id: string }>(10, 'POST', '/v2/workflows', {
      ...{
        name: 'Welcome banner',
        resourceGroupIds: [teamId],
        description: 'First visit',
        hierarchy: ['Shop'],
      },
      ...{ hidden: false, variableProfileId: profile.id },
    })
    const definition = {
      entrypoints: { hero: { type: 'web', format: 'embed-image' } },
      nodes: { banner: { type: 'image', url: 'https://shop.example/banner.png' } },
      edges: { e1: { from: 'hero', to: 'banner', individualized: true, tags: [tag] } },
    }
    const draft = await flows.draftOf(workflow)
    const { data: saved } = await flows.save(workflow, draft, {
      definition,
      changeDescription: 'First banner',
    })
    const [branchId = ''] = saved.analyze.branches
    const analyzeOverrides = {
      vertexIndividualizedScore: { banner: 50 },
      customVertexNames: [{ vertexId: 'banner', name: 'Banner' }],
      branchCategoryIds: { [branchId]: category.id },
      branchLoopWindows: { [branchId]: 24 },
      branchTags: [{ ...tag, branchId }],
    }
    const { data: corrected } = await flows.save(workflow, saved, { analyzeOverrides })
    await flows.succeed(flows.publish(workflow, corrected))
    await make('POST', `/v2/workflows/${workflow.id}/integrations`, {
      ...{ entrypointId: 'hero', parameters: { a: '1' }, domain: 'shop.example', code: 'console.log(1)' },
      ...{ selector: '#hero', includeContext: true, includeDatalayerPath: ['user.segment'] },
      ...{ waitForEvents: ['consent'], emplacement: 'replace' },
      filters: { type: 'and', conditions: [{ operator: 'empty', field: 'utm_source' }] },
    })
    await make('POST', `/v2/workflows/${workflow.id}/archive`)
    await ask(10, 'GET', `/v2/workflows/${workflow.id}`)
    await make('POST', '/v2/workflows/json-templates', {
      ...{ name: 'Card', resourceGroupIds: [teamId], redirectVariable: 'title' },
      definition: { title: { type: 'dependency', variable: 'title' } },
      variables: [{ name: 'title', type: 'scalar', description: 'What it is called' }],
    })
    await ask(11, 'GET', '/v2/workflows/json-templates')
    await ask(12, 'GET', '/v2/workflows/usage/parameter-values?name=utm_source')
    return workflow.id
  }

  /** Archived, with an outcome that rests on numbers. */
  async function askAboutExperiments(workflowId: string): Promise<void> {
    const { _id } = await make<{ _id: string }>('POST', experiments, {
      ...experimentBody({ conversionWindowHours: 24 }),
      ...{
        type: 'holdout',
        baselineVariantId: 'control',
        hypothesis: 'More orders',
        resourceGroupIds: [teamId],
      },
      attachments: [{ surface: 'workflow', resourceId: workflowId }],
    })
    const url = `${experiments}/${_id}`
    await make('POST', `${url}/schedule`, { scheduledAt: new Date(time.clock.now() + hour).toISOString() })
    await make('POST', `${url}/start`)
    const start = time.clock.now()
    const bought = { control: 50, treatment: 100 }
    await engine.load(
      Object.entries(bought).flatMap(([variantId, buyers]) =>
        Array.from({ length: 500 }, (_, i) => {
          const sender = { company: companyId, tmpId: `${variantId}-${i}` }
          const labels = { experimentId: _id, variantId }
          const exposure = storedEvent({ ...sender, name: 'experiment_exposure', time: start + hour, labels })
          const order = storedEvent({ ...sender, name: 'purchase', time: start + 2 * hour, value: '10.00' })
          return i < buyers ? [exposure, order] : [exposure]
        }).flat(),
      ),
    )
    await advance(20 * day)
    await make('POST', `${url}/read`)
    await make('POST', `${url}/end`)
    await make('POST', `${url}/decide`, { routingVariantId: 'treatment' })
    await make('POST', `${url}/archive`)
    await ask(8, 'GET', url)
  }

  async function askAboutDatasources(): Promise<void> {
    const source = { type: 'file' }
    const { id } = await make('POST', worker, { name: 'Products', mode: 'worker', source })
    const uploaded = await app.app.inject({
      method: 'PUT',
      url: `${worker}/${id}/content`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      payload: Buffer.from('sku;price\nA1;1.234,56 €\nB2;2.345,67 €\nC3;\n'),
    })
    if (uploaded.statusCode !== 200) throw new Error(uploaded.body)
    await ask(13, 'POST', `${worker}/worker/${id}/analyzer`)
    const website = await make('POST', worker, { name: 'Website' })
    const collected = await app.app.inject({
      method: 'POST',
      url: `/collect/${website.id}/tracker`,
      payload: {
        key: companyId,
        name: 'page_view',
        url: 'https://shop.example/',
        tmpId: 'a',
        data: {},
        eventId: '1',
        v: 1,
      },
    })
    if (collected.statusCode !== 200) throw new Error(collected.body)
    keep(19, collected.body)
  }

  async function askAboutAccounts(): Promise<void> {
    const address = `https://hooks.example.test:${webhooks.port}/inbox`
    const linked = await make('POST', '/v2/linked-accounts', {
      provider: 'webhook',
      name: 'Warehouse',
      url: address,
    })
    await ask(14, 'DELETE', `/v2/linked-accounts/${linked.id}`)
    await ask(15, 'POST', '/v2/entities/users/password-reset', { email: flows.admin.email })
    await offerSingleSignOn(relational, companyId, 'corp.example')
    await ask(16, 'DELETE', '/v2/entities/sso/config')
    await make('PATCH', `${scim}/config`, { enabled: true })
    const { token: secret } = await make<{ token: string }>('POST', `${scim}/tokens`, { label: 'Directory' })
    await app.auth.call(secret, 'GET', '/v2/scim/v2/Users')
    await ask(18, 'PATCH', `${scim}/config`, {
      ...{ roleSource: 'groups', defaultRoleId: await app.roleIdOf('viewer') },
      roleMapping: [{ group: 'Marketing', roleId: await app.roleIdOf('editor') }],
    })
    await ask(17, 'GET', `${scim}/config`)
  }

  async function work(): Promise<void> {
    const { planner, worker: generations } = app.auth.services.reports.loops
    while (await planner.plan());
    while (await generations.runOne());
  }

  /** An automatic report and the one that supersedes it, one that failed, one of a dashboard that is under way. */
  async function askAboutReports(workflowId: string): Promise<void> {
    const now = time.clock.now()
    await engine.load([
      storedEvent({ company: companyId, time: now - 1_200 * day }),
      storedEvent({ company: companyId, time: now, name: 'workflow_click', labels: { workflowId } }),
    ])
    await make('PATCH', `${reports}/settings`, { analyses: { revenue: { enabled: true } } })
    await advance(40 * day)
    await work()
    const [made] = await make<{ id: string }[]>('GET', reports)
    await make('POST', `${reports}/${made?.id}/regenerate`)
    await work()
    await make('POST', reports, { guidedAnalysis: 'impact' })
    plain.beforeQuery = async (i) => {
      isUp = i < 1
      if (i === 2) throw new Error('broken')
    }
    for (let attempt = 0; attempt < 3; attempt++) {
      await work()
      await advance(200_000)
    }
    isUp = true
    await make('POST', reports, { dashboardPath: 'known', dashboardTitle: 'Sales' })
    await ask(3, 'GET', `${reports}?includeArchived=true`)
  }

  await askForTokens()
  await askAboutStatistics()
  await askAboutDatasources()
  await askAboutAccounts()
  const workflowId = await askAboutWorkflows()
  await askAboutExperiments(workflowId)
  await askAboutReports(workflowId)
  const failure = (await send('GET', `${experiments}/${'f'.repeat(24)}`)).json()

  return {
    answers,
    failure,
    async close() {
      await flows.close()
      webhooks.close()
      await engine.close()
    },
  }
}
