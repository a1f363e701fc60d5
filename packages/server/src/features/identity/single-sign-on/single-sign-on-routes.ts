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
import type {
  SsoConfigReplacement,
  SsoConfigUpdate,
  SsoDomainCreation,
} from '@millrace/contract/resources/sso-config.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { success } from '../../../platform/http/envelope.ts'
import type { Caller } from '../sessions/principal.ts'
import type { CertificateService } from './certificates/certificate-service.ts'
import type { ConfigService } from './config/config-service.ts'
import type { DomainService } from './domains/domain-service.ts'

export interface SingleSignOnServices {
  readonly configs: ConfigService
  readonly domains: DomainService
  readonly certificates: CertificateService
}

interface ById {
  Params: { id: string }
}

function callerOf({ principal, ip }: FastifyRequest): Caller {
  return { principal, address: ip }
}

/** The configuration of single sign-on, for the authenticated scope. */
export function registerSingleSignOnRoutes(app: FastifyInstance, services: SingleSignOnServices): void {
  const { configs, domains, certificates } = services

  app.route({
    ...readSingleSignOn,
    handler: async ({ principal }) => success(await configs.read(principal.companyId)),
  })

  app.route<{ Body: SsoConfigReplacement }>({
    ...replaceSingleSignOn,
    handler: async (request) => success(await configs.replace(callerOf(request), request.body)),
  })

  app.route<{ Body: SsoConfigUpdate }>({
    ...updateSingleSignOn,
    handler: async (request) => success(await configs.update(callerOf(request), request.body)),
  })

  app.route({
    ...deleteSingleSignOn,
    async handler(request) {
      await configs.delete(callerOf(request))
      return success({})
    },
  })

  app.route({
    ...listSingleSignOnDomains,
    handler: async ({ principal }) => success(await domains.list(principal.companyId)),
  })

  app.route<{ Body: SsoDomainCreation }>({
    ...addSingleSignOnDomain,
    handler: async (request) => success(await domains.add(callerOf(request), request.body.domain)),
  })

  app.route<ById>({
    ...verifySingleSignOnDomain,
    handler: async (request) => success(await domains.verify(callerOf(request), request.params.id)),
  })

  app.route<ById>({
    ...removeSingleSignOnDomain,
    async handler(request) {
      await domains.remove(callerOf(request), request.params.id)
      return success({})
    },
  })

  app.route({
    ...listSingleSignOnCertificates,
    handler: async ({ principal }) => success(await certificates.list(principal.companyId)),
  })

  app.route({
    ...rotateSingleSignOnCertificate,
    handler: async (request) => success(await certificates.rotate(callerOf(request))),
  })

  app.route<ById>({
    ...retireSingleSignOnCertificate,
    async handler(request) {
      await certificates.retire(callerOf(request), request.params.id)
      return success({})
    },
  })
}
