/**
 * The client of an `Authorization: Basic` header (RFC 6749 2.3.1); its secret, which no client has here, is
 * not looked at. Undefined for any other header.
 */
export function readBasicClient(authorization: string | undefined): string | undefined {
  const [, credentials] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? '') ?? []
  if (credentials === undefined) return undefined
  const [client = ''] = Buffer.from(credentials, 'base64').toString('latin1').split(':', 1)
  return client
}
