import { revokeToken } from '@millrace/contract/operations/auth.ts'

export const metadataUrl = '/.well-known/oauth-authorization-server'

/** Pages of a sign-in, which browsers go to and no script reads, and SCIM, which servers call. */
const excluded = ['/v2/oauth/', '/v2/sso/saml/', '/v2/scim/']

/** Whether pages of other origins may call an address: the interface, and what a sign-in needs before and after it. */
export function isCrossOriginPath(path: string): boolean {
  if (path === metadataUrl || path === revokeToken.url) return true
  return path.startsWith('/v2/') && !excluded.some((prefix) => path.startsWith(prefix))
}
