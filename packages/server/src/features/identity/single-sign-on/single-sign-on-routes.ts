import {
  addSingleSignOnDomain,
  deleteSingleSignOn,
  listSingleSignOnCertificates,
  listSingleSignOnDomains,
  readSingleSignOn,
  removeSingleSignOnDomain,
  replaceSingleSignOn,
  retireSingleSignOnCertificate,
  rotateSingleSignOnCertificate,
  updateSingleSignOn,
  verifySingleSignOnDomain,
} from '@millrace/contract/operations/single-sign-on.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { CertificateService } from './certificates/certificate-service.ts'
import type { ConfigService } from './config/config-service.ts'
import type { DomainService } from './domains/domain-service.ts'

export interface SingleSignOnServices {
  readonly configs: ConfigService
  readonly domains: DomainService
  readonly certificates: CertificateService
}

/** The configuration of single sign-on, for the authenticated scope. */
export function registerSingleSignOnRoutes(scope: FastifyInstance, services: SingleSignOnServices): void {
  const { configs, domains, certificates } = services

  route(scope, readSingleSignOn, ({ principal }) => configs.read(principal.companyId))
  route(scope, replaceSingleSignOn, (request) => configs.replace(request.caller, request.body))
  route(scope, updateSingleSignOn, (request) => configs.update(request.caller, request.body))
  route(scope, deleteSingleSignOn, (request) => configs.delete(request.caller))

  route(scope, listSingleSignOnDomains, ({ principal }) => domains.list(principal.companyId))
  route(scope, addSingleSignOnDomain, (request) => domains.add(request.caller, request.body.domain))
  route(scope, verifySingleSignOnDomain, (request) => domains.verify(request.caller, request.params.id))
  route(scope, removeSingleSignOnDomain, (request) => domains.remove(request.caller, request.params.id))

  route(scope, listSingleSignOnCertificates, ({ principal }) => certificates.list(principal.companyId))
  route(scope, rotateSingleSignOnCertificate, (request) => certificates.rotate(request.caller))
  route(scope, retireSingleSignOnCertificate, (request) =>
    certificates.retire(request.caller, request.params.id),
  )
}
