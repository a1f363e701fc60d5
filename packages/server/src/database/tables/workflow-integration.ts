import { emplacements, type IntegrationFilters } from '@millrace/contract/resources/workflow-integration.ts'
import { boolean, json, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, owned } from './columns.ts'

/** An address of the runner for one entrypoint of a workflow. */
export const workflowIntegrations = pgTable('workflow_integrations', {
  ...owned,
  workflowId: id('workflow_id').notNull(),
  entrypointId: text('entrypoint_id').notNull(),
  /** What the entrypoint was when it was chosen. */
  channel: text('channel').notNull(),
  format: text('format').notNull(),
  shortId: text('short_id').notNull(),
  name: text('name'),
  enabled: boolean('enabled').notNull().default(true),
  /** Texts by name, in the order of the address. */
  parameters: json('parameters').$type<Record<string, string>>().notNull().default({}),
  domain: text('domain'),
  code: text('code'),
  selector: text('selector'),
  includeContext: boolean('include_context'),
  includeDatalayerPath: text('include_datalayer_path').array(),
  waitForEvents: text('wait_for_events').array(),
  filters: json('filters').$type<IntegrationFilters>(),
  emplacement: text('emplacement', { enum: emplacements }),
  ...history,
})
