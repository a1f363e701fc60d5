import { newId } from '../../src/platform/ids.ts'
import {
  addIntegration,
  categoriesPath,
  profileBody,
  profilesPath,
  templateBody,
  templatesPath,
} from './permission-rows-workflow-settings.ts'
import { addWorkflow } from './permission-rows-workflows.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { nobody, type RefusalRows, refused } from './refusal-row.ts'

async function teamOf({ companyId }: Person, { relational }: PermissionWorld): Promise<string> {
  const { rows } = await relational.pool.query<{ id: string }>(
    'select id from teams where company_id = $1 and is_default',
    [companyId],
  )
  return rows[0]?.id ?? ''
}

const add = async (founder: Person, world: PermissionWorld) =>
  addWorkflow(world, [], founder.token, await teamOf(founder, world))

async function category({ token }: Person, { make }: PermissionWorld, parentId?: string): Promise<string> {
  const body = { name: 'Level', ...(parentId !== undefined && { parentId }) }
  return (await make<{ id: string }>('POST', categoriesPath, body, token)).id
}

/** A chain of categories as deep as can be. @returns from level 1 on */
async function deepest(founder: Person, world: PermissionWorld): Promise<string[]> {
  const ids: string[] = []
  for (let level = 1; level <= 5; level++) ids.push(await category(founder, world, ids.at(-1)))
  return ids
}

/** So many rows of a table in the founder's company. */
const fill = (table: string, columns: string, values: string, count: number) =>
  refused(async ({ companyId }, { relational }) => {
    await relational.pool.query(
      `insert into ${table} (id, company_id, name${columns})
       select substr(md5(n::text || $1 || '${table}'), 1, 24), $1, 'N'${values} from generate_series(1, ${count}) n`,
      [companyId],
    )
    return { path: '' }
  })

const noIntegration = (body?: object) => ({
  integrationNotFound: refused(async (founder, world) => ({
    path: `${(await add(founder, world)).path}/integrations/${nobody}`,
    ...(body && { body }),
  })),
})

const unknownEntrypoint = { entrypointId: 'nowhere' }

/** A template of the founder's team: its address, and the body that makes it what it is. */
async function addTemplate(founder: Person, world: PermissionWorld) {
  const body = templateBody(await teamOf(founder, world))
  const { id } = await world.make<{ id: string }>('POST', templatesPath, body, founder.token)
  return { path: `${templatesPath}/${id}`, body }
}

/** Integrations of workflows, and what workflows share. */
export const workflowSettingRefusals: RefusalRows = {
  createIntegration: {
    unknownEntrypoint: refused(async (founder, world) => ({
      path: `${(await add(founder, world)).path}/integrations`,
      body: unknownEntrypoint,
    })),
    tooManyIntegrations: refused(async (founder, world) => {
      const { path } = await add(founder, world)
      await world.relational.pool.query(
        `insert into workflow_integrations
           (id, company_id, workflow_id, entrypoint_id, channel, format, short_id)
         select substr(md5(n::text || $2), 1, 24), $1, $2, 'zone', 'email', 'embed-image', substr(md5($2 || n), 1, 10)
         from generate_series(1, 100) n`,
        [founder.companyId, path.split('/').at(-1)],
      )
      return { path: `${path}/integrations`, body: { entrypointId: 'zone' } }
    }),
  },
  updateIntegration: {
    ...noIntegration({ enabled: false }),
    unknownEntrypoint: refused(async (founder, world) => ({
      path: await addIntegration(world, founder.token, await teamOf(founder, world)),
      body: unknownEntrypoint,
    })),
  },
  deleteIntegration: noIntegration(),

  createVariableProfile: {
    tooManyVariableProfiles: async (world) => ({
      ...(await fill('variable_profiles', ', parameters', ", '[]'", 200)(world)),
      call: { path: profilesPath, body: profileBody },
    }),
  },

  createBranchCategory: {
    branchCategoryTooDeep: refused(async (founder, world) => ({
      path: categoriesPath,
      body: { name: 'Six', parentId: (await deepest(founder, world)).at(-1) },
    })),
    tooManyBranchCategories: async (world) => ({
      ...(await fill('branch_categories', '', '', 1_000)(world)),
      call: { path: categoriesPath, body: { name: 'More' } },
    }),
  },
  updateBranchCategory: {
    branchCategoryTooDeep: refused(async (founder, world) => {
      const other = await category(founder, world)
      const [top] = await deepest(founder, world)
      return { path: `${categoriesPath}/${top}`, body: { parentId: other } }
    }),
    branchCategoryCycle: refused(async (founder, world) => {
      const [top, below] = await deepest(founder, world)
      return { path: `${categoriesPath}/${top}`, body: { parentId: below } }
    }),
  },
  deleteBranchCategory: {
    branchCategoryHasChildren: refused(async (founder, world) => ({
      path: `${categoriesPath}/${(await deepest(founder, world))[0]}`,
    })),
  },

  createJsonTemplate: {
    unknownTeam: refused(() => ({ path: templatesPath, body: templateBody(newId()) })),
    tooManyJsonTemplates: async (world) => {
      const made = await fill('json_templates', ', definition, variables', ", '{}', '[]'", 1_000)(world)
      const team = await teamOf(made.caller, world)
      return { ...made, call: { path: templatesPath, body: templateBody(team) } }
    },
  },
  replaceJsonTemplate: {
    unknownTeam: refused(async (founder, world) => ({
      path: (await addTemplate(founder, world)).path,
      body: templateBody(newId()),
    })),
    savedMeanwhile: refused(async (founder, world) => ({
      ...(await addTemplate(founder, world)),
      ifMatch: '"0"',
    })),
  },
  deleteJsonTemplate: {
    savedMeanwhile: refused(async (founder, world) => ({
      path: (await addTemplate(founder, world)).path,
      ifMatch: '"0"',
    })),
    usedByWorkflows:
      'ext-json-templates: is kept while a published workflow uses it, which the failure names',
  },
}
