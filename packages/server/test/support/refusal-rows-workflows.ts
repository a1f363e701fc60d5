import { newId } from '../../src/platform/ids.ts'
import { addWorkflow, workflowBody, workflowsPath } from './permission-rows-workflows.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { nobody, type RefusalRows, refused } from './refusal-row.ts'

async function teamOf({ companyId }: Person, { relational }: PermissionWorld): Promise<string> {
  const { rows } = await relational.pool.query<{ id: string }>(
    'select id from teams where company_id = $1 and is_default',
    [companyId],
  )
  return rows[0]?.id ?? ''
}

/** A workflow of the founder. */
const add = async (founder: Person, world: PermissionWorld, ...deeds: string[]) =>
  addWorkflow(world, deeds, founder.token, await teamOf(founder, world))

/** A company that has the most workflows, one of which is archived. */
async function fill({ companyId }: Person, { relational }: PermissionWorld): Promise<void> {
  await relational.pool.query(
    `insert into workflows (id, company_id, name)
     select substr(md5(n::text || $1), 1, 24), $1, 'W' from generate_series(1, 5000) n`,
    [companyId],
  )
}

const inState = (suffix: string, ...deeds: string[]) => ({
  workflowTransition: refused(async (founder, world) => ({
    path: `${(await add(founder, world, ...deeds)).path}${suffix}`,
  })),
})

const full = (suffix: string, ...deeds: string[]) => ({
  tooManyWorkflows: refused(async (founder, world) => {
    const { path } = await add(founder, world, ...deeds)
    await fill(founder, world)
    return { path: `${path}${suffix}` }
  }),
})

/** A version that is not there of a workflow that is. */
const noVersion = (suffix: string, body?: object) => ({
  workflowVersionNotFound: refused(async (founder, world) => ({
    path: `${(await add(founder, world)).path}/versions/${nobody}${suffix}`,
    ...(body && { body }),
  })),
})

const tests = 'ext-workflow-versions: '
const versionChanged = `${tests}needs If-Match, and is refused when another save came first, which names who and when`

/** Workflows, their statuses and their versions. */
export const workflowRefusals: RefusalRows = {
  createWorkflow: {
    unknownTeam: refused(() => ({ path: workflowsPath, body: workflowBody(newId()) })),
    tooManyWorkflows: refused(async (founder, world) => {
      await fill(founder, world)
      return { path: workflowsPath, body: workflowBody(await teamOf(founder, world)) }
    }),
    conflict: '10-create-workflow: is refused with another body',
  },
  updateWorkflow: {
    unknownTeam: refused(async (founder, world) => ({
      path: (await add(founder, world)).path,
      body: { resourceGroupIds: [newId()] },
    })),
    datasourcesNotShared: 'ext-workflow-uses: stays with the teams of a published workflow that reads it',
  },
  archiveWorkflow: inState('/archive', 'archive'),
  restoreWorkflow: { ...inState('/restore'), ...full('/restore', 'archive') },
  duplicateWorkflow: full('/duplicate'),
  deleteWorkflow: {
    workflowTransition: refused(async (founder, world) => {
      const { path, version } = await add(founder, world)
      await world.make('POST', `${version}/publish`, undefined, founder.token)
      return { path }
    }),
  },
  saveWorkflowVersion: {
    ...noVersion('', {}),
    versionConditionRequired: refused(async (founder, world) => ({
      path: (await add(founder, world)).version,
      body: {},
    })),
    versionChanged,
    versionNotDraft: `${tests}keeps its definition; its overrides and metadata are saved, and its analysis follows`,
  },
  publishWorkflowVersion: {
    ...noVersion('/publish'),
    workflowTransition: refused(async (founder, world) => ({
      path: `${(await add(founder, world, 'archive')).version}/publish`,
    })),
    workflowInvalid: refused(async (founder, world) => {
      const { version } = await add(founder, world)
      await world.relational.pool.query(
        `update workflow_versions set definition = '{"nodes":{},"entrypoints":{},"edges":{}}'
         where company_id = $1`,
        [founder.companyId],
      )
      return { path: `${version}/publish` }
    }),
    versionNotDraft: refused(async (founder, world) => {
      const { version } = await add(founder, world)
      await world.make('POST', `${version}/publish`, undefined, founder.token)
      return { path: `${version}/publish` }
    }),
    versionChanged: `${tests}publishes what the caller has seen, where it says so`,
  },
  restoreWorkflowVersion: {
    ...noVersion('/restore'),
    versionChanged: `${tests}is restored into the draft, and stays`,
  },
}
