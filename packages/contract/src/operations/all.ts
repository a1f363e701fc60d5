import type { Operation } from '../operation.ts'
import { resetPassword } from './accounts.ts'
import { checkEmail, createToken, revokeToken } from './auth.ts'
import { collectEvents } from './collector.ts'
import {
  analyzeDatasource,
  createDatasource,
  listDatasourceLogs,
  listDatasources,
  readDatasourceCounters,
} from './datasources.ts'
import { readExperiment } from './experiments.ts'
import { deleteLinkedAccount } from './linked-accounts.ts'
import { readScimConfig, updateScimConfig } from './provisioning.ts'
import { listReports } from './reports.ts'
import { saveQuery, updateSavedQuery } from './saved-queries.ts'
import {
  addSingleSignOnDomain,
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
  listDatasources,
  createDatasource,
  listDatasourceLogs,
  readDatasourceCounters,
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
]
