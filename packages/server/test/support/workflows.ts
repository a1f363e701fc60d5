import type { Workflow, WorkflowCreation } from '@millrace/contract/resources/workflow.ts'
import type { WorkflowVersion } from '@millrace/contract/resources/workflow-version.ts'
import { newId } from '../../src/platform/ids.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'
import { type AccountsApp, createAccountsApp, type Person, type Reply } from './accounts.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

/** A definition that can be published: one zone that always shows this image. */
export const bannerDefinition = (url = 'https://shop.example/banner.png') => ({
  entrypoints: { zone: { type: 'email', format: 'embed-image' } },
  nodes: { banner: { type: 'image', url } },
  edges: { e1: { from: 'zone', to: 'banner' } },
})

/** A definition that can be published, of which a node reads the datasource. */
export const readingDefinition = (datasourceId: string) => ({
  entrypoints: { zone: { type: 'email', format: 'embed-image' } },
  nodes: {
    views: { type: 'events', names: ['page_view'], lookBackHours: 24, datasourceId },
    picture: { type: 'image', url: 'https://a.example/a.png' },
  },
  edges: { e1: { from: 'zone', to: 'views' }, e2: { from: 'views', to: 'picture' } },
})

/** A workflow of the company whose published version names the cohort, as publishing leaves it. */
export async function publishWithCohort(
  { pool }: Pick<Relational, 'pool'>,
  companyId: string,
  cohortId: string,
): Promise<void> {
  const [id, versionId] = [newId(), newId()]
  await pool.query(`insert into workflows (id, company_id, name) values ($1, $2, 'Uses a cohort')`, [
    id,
    companyId,
  ])
  await pool.query(
    `insert into workflow_versions (id, company_id, workflow_id, number, state, published_at, definition, analysis,
       analysis_overrides)
     values ($1, $2, $3, 1, 'live', now(), '{}', '{}', '{}')`,
    [versionId, companyId, id],
  )
  await pool.query(
    `insert into workflow_publications (version_id, company_id, workflow_id, definition, templates, published_by)
     values ($1, $2, $3, '{}', '{}', $3)`,
    [versionId, companyId, id],
  )
  await pool.query(
    `insert into workflow_references (version_id, company_id, workflow_id, kind, resource_id)
     values ($1, $2, $3, 'cohort', $4)`,
    [versionId, companyId, id, cohortId],
  )
  await pool.query(`update workflows set status = 'published', published_version_id = $1 where id = $2`, [
    versionId,
    id,
  ])
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Headers = Readonly<Record<string, string>>

/** An answer with its headers. */
export interface HeadedReply<T = Record<string, unknown>> extends Omit<Reply, 'data'> {
  readonly data: T
  readonly headers: Readonly<Record<string, unknown>>
}

/** Two companies, each with an administrator, and calls below the address of workflows. */
export interface WorkflowsApp {
  readonly relational: TestDatabase
  readonly app: AccountsApp
  readonly admin: Person
  /** Administrator of the other company. */
  readonly stranger: Person
  /** The default teams of both companies. */
  readonly teamId: string
  readonly otherTeamId: string
  /** Calls an operation, as the administrator unless a token is given. */
  call<T = Record<string, unknown>>(
    method: Method,
    path: string,
    body?: unknown,
    options?: { readonly token?: string; readonly headers?: Headers },
  ): Promise<HeadedReply<T>>
  /** Throws unless it succeeds. */
  succeed<T>(reply: Promise<HeadedReply<T>>): Promise<T>
  create(fields?: Partial<WorkflowCreation>, token?: string): Promise<Workflow>
  read(workflow: Pick<Workflow, 'id'>): Promise<Workflow>
  /** Does something to it. */
  act(workflow: Pick<Workflow, 'id'>, deed: string): Promise<HeadedReply<Workflow>>
  draftOf(workflow: Pick<Workflow, 'id'>): Promise<WorkflowVersion>
  /** Saves a version as it is now. */
  save(
    workflow: Pick<Workflow, 'id'>,
    version: Pick<WorkflowVersion, 'id' | 'revision'>,
    body: unknown,
  ): Promise<HeadedReply<WorkflowVersion>>
  publish(
    workflow: Pick<Workflow, 'id'>,
    version: Pick<WorkflowVersion, 'id'>,
    headers?: Headers,
  ): Promise<HeadedReply<WorkflowVersion>>
  /** Creates one and publishes a definition of it. */
  published(definition?: object): Promise<Workflow>
  close(): Promise<void>
}

export async function openWorkflowsApp(
  options: Parameters<typeof createAccountsApp>[1] = {},
): Promise<WorkflowsApp> {
  const relational = await createTestDatabase()
  const app = await createAccountsApp(relational, options)
  const admin = await app.person('admin')
  const stranger = await app.person('admin', app.other.companyId)
  const defaultTeam = async (companyId: string): Promise<string> => {
    const { rows } = await relational.pool.query<{ id: string }>(
      'select id from teams where company_id = $1 and is_default',
      [companyId],
    )
    return rows[0]?.id ?? ''
  }
  const teamId = await defaultTeam(app.companyId)
  const otherTeamId = await defaultTeam(app.other.companyId)

  const call: WorkflowsApp['call'] = async (
    method,
    path,
    body,
    { token = admin.token, headers = {} } = {},
  ) => {
    app.cache.forget()
    const reply = await app.app.inject({
      method,
      url: `/v2/workflows${path}`,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    })
    return { ...reply.json(), status: reply.statusCode, headers: reply.headers }
  }
  const succeed: WorkflowsApp['succeed'] = async (reply) => {
    const { status, data, message } = await reply
    if (status !== 200) throw new Error(`${status} ${message} ${JSON.stringify(data)}`)
    return data
  }
  const create: WorkflowsApp['create'] = (fields = {}, token = admin.token) =>
    succeed(
      call<Workflow>(
        'POST',
        '',
        { name: 'Welcome banner', resourceGroupIds: [teamId], ...fields },
        { token },
      ),
    )
  const read: WorkflowsApp['read'] = ({ id }) => succeed(call<Workflow>('GET', `/${id}`))
  const draftOf: WorkflowsApp['draftOf'] = async (workflow) => {
    const { versions } = await read(workflow)
    const draft = versions.find(({ state }) => state === 'draft')
    if (!draft) throw new Error('a workflow has a draft')
    return draft
  }
  const save: WorkflowsApp['save'] = ({ id }, version, body) =>
    call('PUT', `/${id}/versions/${version.id}`, body, { headers: { 'if-match': `"${version.revision}"` } })
  const publish: WorkflowsApp['publish'] = ({ id }, version, headers = {}) =>
    call('POST', `/${id}/versions/${version.id}/publish`, undefined, { headers })

  return {
    relational,
    app,
    admin,
    stranger,
    teamId,
    otherTeamId,
    call,
    succeed,
    create,
    read,
    draftOf,
    save,
    publish,
    act: ({ id }, deed) => call<Workflow>('POST', `/${id}/${deed}`),
    async published(definition = bannerDefinition()) {
      const workflow = await create()
      const draft = await draftOf(workflow)
      await succeed(save(workflow, draft, { definition }))
      await succeed(publish(workflow, draft))
      return read(workflow)
    },
    async close() {
      await app.app.close()
      await relational.close()
    },
  }
}
