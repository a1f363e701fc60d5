import type { Operation } from '../operation.ts'
import { resetPassword } from './accounts.ts'
import { deleteApplication, listApplications } from './applications.ts'
import { listAuditEntries } from './audit.ts'
import { checkEmail, createToken, revokeToken } from './auth.ts'
import {
  confirmAuthenticator,
  deleteAuthenticator,
  disableAuthenticator,
  offerAuthenticator,
  readAuthenticator,
  renewRecoveryCodes,
} from './authenticator.ts'
import { collectEvents } from './collector.ts'
import { readCompany, updateCompany } from './company.ts'
import {
  analyzeDatasource,
  createDatasource,
  listDatasourceLogs,
  listDatasources,
  readDatasourceCounters,
} from './datasources.ts'
import { readExperiment } from './experiments.ts'
import { deleteInvitation, inviteUser, listInvitations, renewInvitation } from './invitations.ts'
import { createLinkedAccount, deleteLinkedAccount, listLinkedAccounts } from './linked-accounts.ts'
import { changePassword, endOwnSessions, readProfile, updateProfile } from './profile.ts'
import {
  createScimToken,
  deleteScimToken,
  listScimTokens,
  readScimConfig,
  updateScimConfig,
} from './provisioning.ts'
import { listReports } from './reports.ts'
import { createRole, deleteRole, listRoles, readRole, updateRole } from './roles.ts'
import { saveQuery, updateSavedQuery } from './saved-queries.ts'
import {
  addSingleSignOnDomain,
  confirmSingleSignOn,
  consumeSamlResponse,
  deleteSingleSignOn,
  finishSingleSignOn,
  listSingleSignOnCertificates,
  listSingleSignOnDomains,
  readServiceProviderMetadata,
  readSingleSignOn,
  removeSingleSignOnDomain,
  replaceSingleSignOn,
  retireSingleSignOnCertificate,
  rotateSingleSignOnCertificate,
  startSingleSignOn,
  updateSingleSignOn,
  verifySingleSignOnDomain,
} from './single-sign-on.ts'
import { readStatisticsMeta, runQuery } from './statistics.ts'
import { deleteTagValue } from './tags.ts'
import { createTeam, deleteTeam, listTeams, readTeam, updateTeam } from './teams.ts'
import {
  deactivateUser,
  deleteUser,
  listUsers,
  reactivateUser,
  readUser,
  unlinkUser,
  updateUser,
} from './users.ts'
import { createWorkflow, listJsonTemplates, listParameterValues } from './workflows.ts'

/** Every operation of the interface: the 19 documented ones by number, then the extensions. */
export const allOperations: readonly Operation[] = [
  createToken,
  checkEmail,
  listReports,
  runQuery,
  readStatisticsMeta,
  saveQuery,
  updateSavedQuery,
  readExperiment,
  deleteTagValue,
  createWorkflow,
  listJsonTemplates,
  listParameterValues,
  analyzeDatasource,
  deleteLinkedAccount,
  resetPassword,
  deleteSingleSignOn,
  readScimConfig,
  updateScimConfig,
  collectEvents,
  revokeToken,
  readAuthenticator,
  offerAuthenticator,
  confirmAuthenticator,
  renewRecoveryCodes,
  disableAuthenticator,
  deleteAuthenticator,
  listDatasources,
  createDatasource,
  listDatasourceLogs,
  readDatasourceCounters,
  readProfile,
  updateProfile,
  changePassword,
  endOwnSessions,
  listApplications,
  deleteApplication,
  listUsers,
  readUser,
  updateUser,
  deactivateUser,
  reactivateUser,
  deleteUser,
  unlinkUser,
  inviteUser,
  listInvitations,
  renewInvitation,
  deleteInvitation,
  listRoles,
  readRole,
  createRole,
  updateRole,
  deleteRole,
  listTeams,
  readTeam,
  createTeam,
  updateTeam,
  deleteTeam,
  readCompany,
  updateCompany,
  listLinkedAccounts,
  createLinkedAccount,
  listAuditEntries,
  listScimTokens,
  createScimToken,
  deleteScimToken,
  readSingleSignOn,
  replaceSingleSignOn,
  updateSingleSignOn,
  listSingleSignOnDomains,
  addSingleSignOnDomain,
  verifySingleSignOnDomain,
  removeSingleSignOnDomain,
  listSingleSignOnCertificates,
  rotateSingleSignOnCertificate,
  retireSingleSignOnCertificate,
  startSingleSignOn,
  readServiceProviderMetadata,
  consumeSamlResponse,
  finishSingleSignOn,
  confirmSingleSignOn,
]
