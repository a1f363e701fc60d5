import { createDatasourceStore } from '../features/datasources/datasource-store.ts'
import { ensureWorkflowEvents } from '../features/datasources/workflow-events-store.ts'
import { createSenderReader } from '../features/events/collector/senders/senders.ts'
import { createExperimentStore } from '../features/experiments/experiment-store.ts'
import { createPeopleStore } from '../features/identity/people/people-store.ts'
import { validateDefinition } from '../features/personalisation/definition/validate-definition.ts'
import { createPreviewService } from '../features/personalisation/display/preview-service.ts'
import { createRunnerService } from '../features/personalisation/display/runner-service.ts'
import { createRunnerStore } from '../features/personalisation/display/runner-store.ts'
import { createPageIntegrationsService } from '../features/personalisation/integrations/page-integrations-service.ts'
import { createVersionService } from '../features/personalisation/versions/version-service.ts'
import { createWorkflowService } from '../features/personalisation/workflow-service.ts'
import { createWorkflowSettings } from '../features/personalisation/workflow-settings.ts'
import { monotonicClock } from '../platform/clock.ts'
import type { Queries } from '../platform/stores/relational.ts'
import type { Analytics } from './analytics.ts'
import type { Datasources } from './datasources.ts'
import type { Events } from './events.ts'
import type { Shared } from './shared.ts'
import type { WorkflowReaders } from './workflow-readers.ts'

/** The runner stands first: whatever changes a workflow tells it. */
export function wirePersonalisation(
  shared: Shared,
  readers: WorkflowReaders,
  {
    collector,
    persons,
    datasourceRows,
  }: Pick<Events & Analytics & Datasources, 'collector' | 'persons' | 'datasourceRows'>,
) {
  const { relational, box, overrides } = shared
  const { db } = relational
  const running = {
    ...shared,
    ...readers,
    persons,
    rows: datasourceRows,
    readCompany: createRunnerStore(db, box).findCompany,
    async listExperiments(companyId: string, ids: readonly string[]) {
      const store = createExperimentStore(db)
      const found = await Promise.all(ids.map((id) => store.find({ companyId, id })))
      return found.flatMap((each) =>
        each ? [{ ...each, routingVariantId: each.outcome?.routingVariantId }] : [],
      )
    },
    listSeenDatasources: createDatasourceStore(db).listSeen,
    readSender: createSenderReader(),
    timeLimitMs: shared.runnerTimeLimitMs,
    steadyClock: monotonicClock,
  }
  const runner = createRunnerService({
    ...running,
    async record({ companyId, datasourceId, countries, fixed, data, userAgent, address, ...event }) {
      const datasource = { id: datasourceId, companyId, countries, active: true }
      const envelope = { ...event, key: companyId, data, v: 1 }
      await collector.collect(datasource, { events: [envelope], dropped: [] }, userAgent, address, fixed)
    },
  })
  const changing = {
    ...shared,
    ...readers,
    ensureEventsDatasource: (tx: Queries, companyId: string) =>
      ensureWorkflowEvents(tx, companyId, createPeopleStore(tx).getDefaultTeam),
    validateDefinition: overrides.validateDefinition ?? validateDefinition,
    workflowChanged: runner.drop,
  }
  return {
    runner,
    previews: createPreviewService({ ...running, environmentOf: runner.environmentOf }),
    pageIntegrations: createPageIntegrationsService({
      ...shared,
      ...readers.integrations,
      clock: monotonicClock,
    }),
    workflows: { service: createWorkflowService(changing), versions: createVersionService(changing) },
    workflowSettings: createWorkflowSettings(changing),
  }
}
