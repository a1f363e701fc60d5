import { DomainError } from '../../../../platform/errors.ts'
import { isId, normalizeId } from '../../../../platform/ids.ts'
import { malformed } from '../body/collector-body.ts'

const basic = /^Basic +([\w+/=-]+) *$/i

/**
 * The datasource that Basic authentication names as the user; the password means nothing. Undefined where there is
 * none, or where the header has another scheme, which some clients send beside `writeKey` in the body.
 * @throws {DomainError} writeKeyMissing where the header names no user, invalidDatasourceId
 */
export function readBasicKey(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^Basic\b/i.test(authorization)) return undefined
  const credentials = Buffer.from(basic.exec(authorization)?.[1] ?? '', 'base64').toString('utf8')
  const [user = ''] = credentials.split(':', 1)
  if (user === '') throw new DomainError('writeKeyMissing')
  return readKey(user)
}

/**
 * The datasource of a request.
 * @param basicKey what `readBasicKey` gave
 * @throws {DomainError} writeKeyMissing, invalidDatasourceId, malformedEvents where two are named
 */
export function readWriteKey(body: Record<string, unknown>, basicKey: string | undefined): string {
  const { writeKey } = body
  const isAbsent = writeKey === undefined || writeKey === null || writeKey === ''
  if (isAbsent) {
    if (basicKey === undefined) throw new DomainError('writeKeyMissing')
    return basicKey
  }
  const key = readKey(typeof writeKey === 'string' ? writeKey : '')
  if (basicKey !== undefined && basicKey !== key)
    throw malformed('Authorization and writeKey name two datasources')
  return key
}

function readKey(text: string): string {
  if (isId(text)) return normalizeId(text)
  throw new DomainError('invalidDatasourceId', { id: text.slice(0, 100) })
}
