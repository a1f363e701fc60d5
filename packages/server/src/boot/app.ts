import { allOperations } from '@millrace/contract/operations/all.ts'
import type { FastifyInstance } from 'fastify'
import { registerCohortRoutes } from '../features/analytics/cohorts/cohort-routes.ts'
import {
  explorationAnswers,
  registerExplorationRoutes,
} from '../features/analytics/explorations/exploration-routes.ts'
import { registerAnalyticsSettingsRoutes } from '../features/analytics/settings/analytics-settings-routes.ts'
import { registerEventAliasRoutes } from '../features/analytics/settings/event-alias-routes.ts'
import { registerStatisticsRoutes } from '../features/analytics/statistics-routes.ts'
import { registerAuditRoutes } from '../features/audit/audit-routes.ts'
import { consoleRoutes } from '../features/console/console-routes.ts'
import { registerDashboardRoutes } from '../features/dashboards/dashboard-routes.ts'
import {
  registerDatasourceRoutes,
  registerSampleDataRoutes,
} from '../features/datasources/datasource-routes.ts'
import { registerActivityRoutes } from '../features/events/activity/activity-routes.ts'
import { collectorRoutes } from '../features/events/collector/collector-routes.ts'
import { registerPersonDataRoutes } from '../features/events/persons/person-data-routes.ts'
import { registerRetentionRoutes } from '../features/events/retention/retention-routes.ts'
import { trackerRoutes } from '../features/events/tracker-files/tracker-routes.ts'
import { readTrackerScripts } from '../features/events/tracker-files/tracker-scripts.ts'
import { registerExperimentRoutes } from '../features/experiments/experiment-routes.ts'
import { registerExperimentResultRoutes } from '../features/experiments/results/results-routes.ts'
import { registerExportRoutes } from '../features/exports/export-routes.ts'
import { registerAccountRoutes } from '../features/identity/people/account-routes.ts'
import { registerProvisioningRoutes } from '../features/identity/provisioning/provisioning-routes.ts'
import { registerScimRoutes } from '../features/identity/provisioning/scim-routes.ts'
import { isCrossOriginPath } from '../features/identity/sessions/clients/cross-origin-paths.ts'
import { registerSessionRoutes } from '../features/identity/sessions/session-routes.ts'
import { registerPasswordLinkRoutes } from '../features/identity/sign-in/pages/password-link-routes.ts'
import { registerSignInRoutes } from '../features/identity/sign-in/pages/sign-in-routes.ts'
import { registerAuthenticatorRoutes } from '../features/identity/sign-in/second-factor/authenticator-routes.ts'
import { registerMetadataRoutes } from '../features/identity/sign-in/tokens/metadata-routes.ts'
import { registerTokenRoutes } from '../features/identity/sign-in/tokens/token-routes.ts'
import { registerSamlRoutes } from '../features/identity/single-sign-on/sign-in/saml-sign-in-routes.ts'
import { registerSingleSignOnRoutes } from '../features/identity/single-sign-on/single-sign-on-routes.ts'
import { registerLinkedAccountRoutes } from '../features/linked-accounts/linked-account-routes.ts'
import { registerPreviewRoutes } from '../features/personalisation/display/preview-routes.ts'
import { runnerRoutes } from '../features/personalisation/display/runner-routes.ts'
import { pageIntegrationsRoutes } from '../features/personalisation/integrations/page-integrations-routes.ts'
import { registerVersionRoutes } from '../features/personalisation/versions/version-routes.ts'
import { registerWorkflowRoutes } from '../features/personalisation/workflow-routes.ts'
import { registerWorkflowSettingRoutes } from '../features/personalisation/workflow-settings-routes.ts'
import { registerReportRoutes } from '../features/reports/report-routes.ts'
import { registerSavedExplorationRoutes } from '../features/saved-queries/explorations/saved-exploration-routes.ts'
import { registerSavedQueryRoutes } from '../features/saved-queries/saved-query-routes.ts'
import { registerTagKeyRoutes } from '../features/tag-keys/tag-key-routes.ts'
import type { Addresses } from '../platform/http/documents/curl.ts'
import { documentsRoutes } from '../platform/http/documents-routes.ts'
import { healthRoutes } from '../platform/http/health-routes.ts'
import { createHttpServer } from '../platform/http/server.ts'
import { version } from '../platform/version.ts'
import type { Context } from './context.ts'

/**
 * The whole service as a Fastify instance, not yet listening. Scopes show protection: `open` needs no token,
 * `authenticated` needs one and checks the operation's permission, `provisioning` (SCIM) and `collector` have guards
 * or limits and replies of their own.
 */
export async function buildApp(
  context: Context,
  addresses: () => Addresses,
  buildConsole?: () => Promise<unknown>,
): Promise<FastifyInstance> {
  const { config, logger, metrics, services } = context
  const app = createHttpServer({
    logger,
    ...config.http,
    ...(config.roles.has('interface') && {
      crossOrigin: { allows: context.allowsOrigin, covers: isCrossOriginPath },
    }),
  })

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.url.startsWith('/v2/')) context.interfaceUse.note()
    done()
  })

  await app.register(async function open(scope) {
    await scope.register(
      healthRoutes({ readiness: context.readiness, metrics, metricsToken: config.http.metricsToken }),
    )
    await scope.register(
      documentsRoutes({
        operations: allOperations,
        version,
        addresses,
        ...(config.roles.has('interface') && { home: '/console/' }),
      }),
    )
    if (!config.roles.has('interface')) return
    await scope.register(
      consoleRoutes({
        clientId: context.installation.clientId,
        ...(buildConsole && { build: buildConsole }),
      }),
    )
    const { publicUrl } = context
    registerTokenRoutes(scope, services.tokens)
    registerMetadataRoutes(scope, publicUrl)
    registerSignInRoutes(scope, { ...services, publicUrl })
    const { readAuthorization } = services
    registerPasswordLinkRoutes(scope, {
      links: services.accounts.passwordLinks,
      readAuthorization,
      publicUrl,
    })
    registerSamlRoutes(scope, services.singleSignOn)
  })

  if (config.roles.has('interface')) {
    await app.register(async function authenticated(scope) {
      services.guard.protect(scope)
      measureCalls(scope, context)
      forgetAccess(scope, context)
      registerSessionRoutes(scope, services.ownSessions, services.applications)
      registerAuthenticatorRoutes(scope, services.authenticators)
      registerStatisticsRoutes(scope, services.statistics, services.answerBodies)
      registerCohortRoutes(scope, services.cohorts)
      registerAnalyticsSettingsRoutes(scope, services.analyticsSettings)
      registerEventAliasRoutes(scope, services.eventAliases)
      registerTagKeyRoutes(scope, services.tagKeys)
      registerWorkflowRoutes(scope, services.workflows.service)
      registerVersionRoutes(scope, services.workflows.versions)
      registerWorkflowSettingRoutes(scope, services.workflowSettings)
      registerExperimentRoutes(scope, services)
      registerExperimentResultRoutes(scope, services.experimentResults)
      registerExplorationRoutes(scope, services.statistics, services.answerBodies)
      registerSavedQueryRoutes(scope, services.savedQueries.service)
      registerDashboardRoutes(scope, services.dashboards)
      registerExportRoutes(scope, services.exports)
      registerSavedExplorationRoutes(scope, services.savedExplorations, explorationAnswers(services))
      registerReportRoutes(scope, services.reports)
      registerDatasourceRoutes(scope, services)
      if (config.roles.has('collector')) {
        registerSampleDataRoutes(scope, services.sampleData)
        registerActivityRoutes(scope, services.activity)
      }
      registerPersonDataRoutes(scope, services.persons)
      registerRetentionRoutes(scope, services.retention)
      registerAccountRoutes(scope, { ...services.accounts, companyClosing: services.companyClosing })
      registerPreviewRoutes(scope, services.previews)
      registerLinkedAccountRoutes(scope, services.linkedAccounts)
      registerAuditRoutes(scope, services.audit)
      registerSingleSignOnRoutes(scope, services.singleSignOn)
      registerProvisioningRoutes(scope, services.provisioning)
    })
    await app.register(async function provisioning(scope) {
      measureCalls(scope, context)
      forgetAccess(scope, context)
      registerScimRoutes(scope, services.provisioning)
    })
  }

  if (config.roles.has('collector')) {
    await app.register(async function collector(scope) {
      await scope.register(collectorRoutes({ collector: services.collector }))
    })
    await app.register(async function runner(scope) {
      const { runner } = services
      await scope.register(
        runnerRoutes({
          runner: {
            answer(request) {
              // A run may ask what its person did a moment ago.
              context.interfaceUse.note()
              return runner.answer(request)
            },
          },
        }),
      )
    })
    await app.register(async function trackerFiles(scope) {
      const scripts = readTrackerScripts()
      const { pageIntegrations } = services
      const { findCompany } = services.trackerFiles
      async function integrationsScript(companyId: string): Promise<string | undefined> {
        const { count } = await pageIntegrations.find(companyId)
        return count > 0 ? scripts.pathOf('t-workflows.js') : undefined
      }
      await scope.register(trackerRoutes({ scripts, findCompany, integrationsScript }))
      await scope.register(pageIntegrationsRoutes({ pageIntegrations, findCompany }))
    })
  }
  return app
}

/**
 * What was changed of accounts holds for the next request to this process, which may come before the notice that tells
 * every process.
 */
function forgetAccess(scope: FastifyInstance, { access }: Context): void {
  scope.addHook('onSend', async ({ method, url }, reply) => {
    if (method !== 'GET' && reply.statusCode < 400 && /^\/v2\/(entities|scim)\//.test(url)) access.forget()
  })
}

/** Durations by route template, and a line in the log for each call; never the address itself, which may hold secrets. */
function measureCalls(scope: FastifyInstance, { metrics }: Context): void {
  scope.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    const labels = { method: request.method, route, status: String(reply.statusCode) }
    metrics.httpSeconds.observe(labels, reply.elapsedTime / 1000)
    request.log.info(
      {
        requestId: request.id,
        ...labels,
        milliseconds: Math.round(reply.elapsedTime),
        companyId: request.principal?.companyId,
        userId: request.principal?.userId,
      },
      'call',
    )
  })
}
