import type { JsonTemplate } from '@millrace/contract/resources/json-template.ts'
import type { VariableProfile } from '@millrace/contract/resources/variable-profile.ts'
import { json, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, owned, saves } from './columns.ts'

/** Parameters that addresses of workflows have. */
export const variableProfiles = pgTable('variable_profiles', {
  ...owned,
  name: text('name').notNull(),
  parameters: json('parameters').$type<VariableProfile['parameters']>().notNull(),
  ...history,
})

/** The tree into which branches are sorted. */
export const branchCategories = pgTable('branch_categories', {
  ...owned,
  parentId: id('parent_id'),
  name: text('name').notNull(),
  ...history,
})

export const jsonTemplates = pgTable('json_templates', {
  ...owned,
  name: text('name').notNull(),
  definition: json('definition').$type<JsonTemplate['definition']>().notNull(),
  variables: json('variables').$type<JsonTemplate['variables']>().notNull(),
  redirectVariable: text('redirect_variable'),
  ...saves,
  ...history,
})

/** The teams that see a template; at least one. */
export const jsonTemplateTeams = pgTable(
  'json_template_teams',
  {
    companyId: id('company_id').notNull(),
    templateId: id('template_id').notNull(),
    teamId: id('team_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.templateId, table.teamId] })],
)
