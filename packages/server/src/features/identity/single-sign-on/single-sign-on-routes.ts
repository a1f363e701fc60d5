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
import { callerOf } from '../sessions/request-caller.ts'
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
  route(scope, replaceSingleSignOn, (request) => configs.replace(callerOf(request), request.body))
  route(scope, updateSingleSignOn, (request) => configs.update(callerOf(request), request.body))
  route(scope, deleteSingleSignOn, (request) => configs.delete(callerOf(request)))

  route(scope, listSingleSignOnDomains, ({ principal }) => domains.list(principal.companyId))
  route(scope, addSingleSignOnDomain, (request) => domains.add(callerOf(request), request.body.domain))
  route(scope, verifySingleSignOnDomain, (request) => domains.verify(callerOf(request), request.params.id))
  route(scope, removeSingleSignOnDomain, (request) => domains.remove(callerOf(request), request.params.id))

  route(scope, listSingleSignOnCertificates, ({ principal }) => certificates.list(principal.companyId))
  route(scope, rotateSingleSignOnCertificate, (request) => certificates.rotate(callerOf(request)))
  route(scope, retireSingleSignOnCertificate, (request) =>
    certificates.retire(callerOf(request), request.params.id),
  )
}
