import { languages } from '@millrace/contract/languages.ts'
import { createToken, revokeToken } from '@millrace/contract/operations/auth.ts'
import type { FastifyInstance } from 'fastify'
import { grantTypes } from '../../sessions/clients/client-service.ts'
import { metadataUrl } from '../../sessions/clients/cross-origin-paths.ts'
import { signInUrl } from '../pages/sign-in-pages.ts'

/** What OAuth clients find out by themselves (RFC 8414); clients here are public and hold no secret. */
export function registerMetadataRoutes(app: FastifyInstance, publicUrl: () => string): void {
  app.get(metadataUrl, async (_request, reply) => {
    const issuer = publicUrl()
    reply.header('cache-control', 'public, max-age=300').header('access-control-allow-origin', '*')
    return {
      issuer,
      authorization_endpoint: `${issuer}${signInUrl}`,
      token_endpoint: `${issuer}${createToken.url}`,
      revocation_endpoint: `${issuer}${revokeToken.url}`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: [...grantTypes],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      ui_locales_supported: [...languages],
      service_documentation: `${issuer}/docs`,
    }
  })
}
