import type { Operation } from '../operation.ts'
import * as accounts from './accounts.ts'
import * as analyticsSettings from './analytics-settings.ts'
import * as applications from './applications.ts'
import * as audit from './audit.ts'
import * as auth from './auth.ts'
import * as authenticator from './authenticator.ts'
import * as cohorts from './cohorts.ts'
import * as collector from './collector.ts'
import * as company from './company.ts'
import * as dashboards from './dashboards.ts'
import * as datasources from './datasources.ts'
import * as eventAliases from './event-aliases.ts'
import * as experimentResults from './experiment-results.ts'
import * as experiments from './experiments.ts'
import * as funnels from './funnels.ts'
import * as integrations from './integrations.ts'
import * as invitations from './invitations.ts'
import * as linkedAccounts from './linked-accounts.ts'
import * as paths from './paths.ts'
import * as profile from './profile.ts'
import * as provisioning from './provisioning.ts'
import * as reports from './reports.ts'
import * as retention from './retention.ts'
import * as roles from './roles.ts'
import * as runner from './runner.ts'
import * as sampleData from './sample-data.ts'
import * as savedQueries from './saved-queries.ts'
import * as segment from './segment.ts'
import * as singleSignOn from './single-sign-on.ts'
import * as statistics from './statistics.ts'
import * as tags from './tags.ts'
import * as teams from './teams.ts'
import * as users from './users.ts'
import * as workerDatasources from './worker-datasources.ts'
import * as workflowSettings from './workflow-settings.ts'
import * as workflowVersions from './workflow-versions.ts'
import * as workflows from './workflows.ts'

/**
 * Every operation of the interface: the 19 documented ones by number, then the extensions. `npm run documents`
 * writes it from what the files beside it export; it keeps the order.
 */
const everyOperation = [
  auth.createToken,
  auth.checkEmail,
  reports.listReports,
  reports.createReport,
  reports.readReport,
  reports.askFollowUp,
  reports.retryReport,
  reports.regenerateReport,
  reports.archiveReport,
  reports.verifyEvidence,
  reports.readReportSettings,
  reports.updateReportSettings,
  statistics.runQuery,
  statistics.readStatisticsMeta,
  statistics.listStatisticsValues,
  statistics.explainQuery,
  savedQueries.saveQuery,
  savedQueries.updateSavedQuery,
  savedQueries.listSavedQueries,
  savedQueries.readSavedQuery,
  savedQueries.deleteSavedQuery,
  savedQueries.runSavedQuery,
  savedQueries.listSavedQueryRuns,
  savedQueries.listNextRuns,
  savedQueries.readRunResult,
  savedQueries.previewSchedule,
  experiments.readExperiment,
  experiments.listExperiments,
  experiments.createExperiment,
  experiments.updateExperiment,
  experiments.scheduleExperiment,
  experiments.startExperiment,
  experiments.markExperimentRead,
  experiments.endExperiment,
  experiments.decideExperiment,
  experiments.archiveExperiment,
  experiments.readAssignment,
  tags.deleteTagValue,
  tags.listTagKeys,
  tags.readTagKey,
  tags.createTagKey,
  tags.updateTagKey,
  tags.deleteTagKey,
  tags.createTagValue,
  tags.updateTagValue,
  workflows.createWorkflow,
  workflows.listJsonTemplates,
  workflows.listParameterValues,
  workflows.listWorkflows,
  workflows.listWorkflowFolders,
  workflows.readWorkflow,
  workflows.updateWorkflow,
  workflows.archiveWorkflow,
  workflows.restoreWorkflow,
  workflows.duplicateWorkflow,
  workflows.deleteWorkflow,
  workflows.listParameters,
  datasources.analyzeDatasource,
  linkedAccounts.deleteLinkedAccount,
  accounts.resetPassword,
  singleSignOn.deleteSingleSignOn,
  provisioning.readScimConfig,
  provisioning.updateScimConfig,
  collector.collectEvents,
  auth.revokeToken,
  authenticator.readAuthenticator,
  authenticator.offerAuthenticator,
  authenticator.confirmAuthenticator,
  authenticator.renewRecoveryCodes,
  authenticator.disableAuthenticator,
  authenticator.deleteAuthenticator,
  datasources.listDatasources,
  datasources.createDatasource,
  datasources.listDatasourceLogs,
  datasources.readDatasourceCounters,
  datasources.watchDatasource,
  profile.readProfile,
  profile.updateProfile,
  profile.changePassword,
  profile.endOwnSessions,
  profile.listOwnSessions,
  profile.endOwnSession,
  applications.listApplications,
  applications.deleteApplication,
  users.listUsers,
  users.readUser,
  users.updateUser,
  users.deactivateUser,
  users.reactivateUser,
  users.deleteUser,
  users.unlinkUser,
  users.listPeople,
  invitations.inviteUser,
  invitations.listInvitations,
  invitations.renewInvitation,
  invitations.deleteInvitation,
  roles.listRoles,
  roles.readRole,
  roles.createRole,
  roles.updateRole,
  roles.deleteRole,
  teams.listTeams,
  teams.readTeam,
  teams.createTeam,
  teams.updateTeam,
  teams.deleteTeam,
  company.readCompany,
  company.updateCompany,
  linkedAccounts.listLinkedAccounts,
  linkedAccounts.createLinkedAccount,
  audit.listAuditEntries,
  provisioning.listScimTokens,
  provisioning.createScimToken,
  provisioning.deleteScimToken,
  singleSignOn.readSingleSignOn,
  singleSignOn.replaceSingleSignOn,
  singleSignOn.updateSingleSignOn,
  singleSignOn.listSingleSignOnDomains,
  singleSignOn.addSingleSignOnDomain,
  singleSignOn.verifySingleSignOnDomain,
  singleSignOn.removeSingleSignOnDomain,
  singleSignOn.listSingleSignOnCertificates,
  singleSignOn.rotateSingleSignOnCertificate,
  singleSignOn.retireSingleSignOnCertificate,
  singleSignOn.startSingleSignOn,
  singleSignOn.readServiceProviderMetadata,
  singleSignOn.consumeSamlResponse,
  singleSignOn.finishSingleSignOn,
  singleSignOn.confirmSingleSignOn,
  cohorts.listCohorts,
  cohorts.createCohort,
  cohorts.readCohort,
  cohorts.updateCohort,
  cohorts.deleteCohort,
  cohorts.readCohortSize,
  cohorts.listCohortMembers,
  cohorts.replaceCohortMembers,
  cohorts.countCohortRule,
  analyticsSettings.readAnalyticsSettings,
  analyticsSettings.updateAnalyticsSettings,
  funnels.exploreFunnel,
  eventAliases.listEventAliases,
  eventAliases.setEventAlias,
  eventAliases.deleteEventAlias,
  paths.explorePaths,
  retention.exploreRetention,
  experimentResults.readExperimentResults,
  experimentResults.planExperiment,
  runner.runWorkflow,
  runner.previewWorkflow,
  workflowVersions.listWorkflowVersions,
  workflowVersions.readWorkflowVersion,
  workflowVersions.saveWorkflowVersion,
  workflowVersions.validateWorkflowVersion,
  workflowVersions.publishWorkflowVersion,
  workflowVersions.restoreWorkflowVersion,
  workflowVersions.readWorkflowChanges,
  workerDatasources.readDatasource,
  workerDatasources.updateDatasource,
  workerDatasources.deleteDatasource,
  workerDatasources.pauseDatasource,
  workerDatasources.resumeDatasource,
  workerDatasources.refreshDatasource,
  workerDatasources.uploadContent,
  workerDatasources.updateFields,
  workerDatasources.publishDatasource,
  workerDatasources.listImports,
  workerDatasources.queryDatasource,
  integrations.listIntegrations,
  integrations.readIntegration,
  integrations.createIntegration,
  integrations.updateIntegration,
  integrations.deleteIntegration,
  integrations.readIntegrationSnippet,
  workflowSettings.listVariableProfiles,
  workflowSettings.readVariableProfile,
  workflowSettings.createVariableProfile,
  workflowSettings.replaceVariableProfile,
  workflowSettings.deleteVariableProfile,
  workflowSettings.listBranchCategories,
  workflowSettings.readBranchCategory,
  workflowSettings.createBranchCategory,
  workflowSettings.updateBranchCategory,
  workflowSettings.deleteBranchCategory,
  workflowSettings.readJsonTemplate,
  workflowSettings.createJsonTemplate,
  workflowSettings.replaceJsonTemplate,
  workflowSettings.deleteJsonTemplate,
  segment.sendSegmentBatch,
  segment.importSegmentBatch,
  segment.sendSegmentTrack,
  segment.sendSegmentPage,
  segment.sendSegmentScreen,
  segment.sendSegmentIdentify,
  segment.sendSegmentGroup,
  segment.sendSegmentAlias,
  sampleData.createSampleData,
  sampleData.deleteSampleData,
  dashboards.listDashboards,
  dashboards.createDashboard,
  dashboards.readDashboard,
  dashboards.replaceDashboard,
  dashboards.deleteDashboard,
  dashboards.duplicateDashboard,
] as const

export const allOperations: readonly Operation[] = everyOperation

/** One of them with all that its type knows: its id, its address and its schemas. */
export type AnyOperation = (typeof everyOperation)[number]
