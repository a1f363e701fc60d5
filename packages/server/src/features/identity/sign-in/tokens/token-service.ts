import type { TokenResponse } from '@millrace/contract/resources/token.ts'
import { auditEventOf } from '../../../../platform/audit.ts'
import { isPasswordTooLong, maximumPasswordBytes } from '../../../../platform/crypto/passwords.ts'
import { hashSecret, isSecret, newSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { isId, newId, normalizeId } from '../../../../platform/ids.ts'
import { networkOf } from '../../../../platform/network-address.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createFamiliarStore } from '../../sessions/familiar-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { createCodeStore } from '../../sessions/tokens/code-store.ts'
import { createRotationStore } from '../../sessions/tokens/rotation-store.ts'
import {
  type Client,
  type Credentials,
  createTokenStore,
  type SessionRefresh,
  type TokenStore,
} from '../../sessions/tokens/token-store.ts'
import type { PasswordCheck, RequestSource } from '../passwords/password-check.ts'
import type {
  CodeRequest,
  PasswordRequest,
  RefreshRequest,
  RevocationRequest,
  TokenRequest,
} from './token-request.ts'

export interface TokenServiceDependencies extends IdentityContext {
  readonly tokens: TokenStore
  readonly passwordCheck: PasswordCheck
}

const body = (accessToken: string, refreshToken: string | undefined): TokenResponse => ({
  access_token: accessToken,
  ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  token_type: 'Bearer',
  expires_in: 3600,
})

/** The verifier of RFC 7636 4.1 gives this challenge. */
const challengeOf = (verifier: string): string => hashSecret(verifier).toString('base64url')

/** Where a request for tokens comes from. */
export interface TokenSource extends RequestSource {
  /** What the program calls itself. */
  readonly userAgent: string | undefined
}

/** Longer ones are cut: what they tell stands in front. */
const maxUserAgent = 512

export type TokenService = ReturnType<typeof createTokenService>

/** Issues tokens, operation 1, and revokes them. */
export function createTokenService(dependencies: TokenServiceDependencies) {
  const { relational, tokens, passwordCheck, recordAudit, random } = dependencies

  async function requireClient(clientId: string): Promise<Client> {
    const client = isId(clientId) ? await tokens.findClient(normalizeId(clientId)) : undefined
    if (!client) throw new DomainError('invalidClient')
    return client
  }

  async function requireClientFor(grantType: string, clientId: string): Promise<Client> {
    const client = await requireClient(clientId)
    if (!client.grants.includes(grantType)) throw new DomainError('unauthorizedClient')
    return client
  }

  /** Inside the transaction. Undefined when the user was disabled or got another password meanwhile. */
  async function openSession(
    inside: TokenStore,
    user: Pick<Credentials, 'userId' | 'passwordHash'>,
    method: 'password' | 'sso',
    client: Pick<Client, 'id' | 'grants'>,
    source: TokenSource,
  ): Promise<{ pair: TokenResponse; refreshTokenId: string } | undefined> {
    const accessToken = newSecret(random)
    const refreshToken = client.grants.includes('refresh_token') ? newSecret(random) : undefined
    const refreshTokenId = newId()
    const opened = await inside.openSession({
      user,
      method,
      clientId: client.id,
      address: networkOf(source.address),
      userAgent: (source.userAgent ?? '').slice(0, maxUserAgent),
      refreshTokenId,
      refreshTokenHash: refreshToken === undefined ? null : hashSecret(refreshToken),
      accessTokenId: newId(),
      accessTokenHash: hashSecret(accessToken),
    })
    return opened ? { pair: body(accessToken, refreshToken), refreshTokenId } : undefined
  }

  const recordTheft = (
    tx: Queries,
    { userId: id, companyId, email: name }: { userId: string; companyId: string; email: string },
    details: Readonly<Record<string, unknown>>,
    address: string,
  ): Promise<void> => {
    const target = { kind: 'user', id, name }
    const actor = { kind: 'platform' } as const
    return recordAudit(tx, { companyId, action: 'token-revoke', actor, target, details, address })
  }

  async function grantPassword(request: PasswordRequest, source: TokenSource): Promise<TokenResponse> {
    const { username, password } = request
    const findClient = () => requireClientFor(request.grantType, request.clientId)
    const user = await passwordCheck.verify({ findClient, username, password }, source)
    const { clientId } = user
    if (user.needsCode) {
      if (request.otpCode === undefined) throw new DomainError('otpRequired')
      await passwordCheck.verifyCode(user, request.otpCode, clientId, source)
    }
    // Again: the work above takes its time.
    const client = await findClient()
    return relational.transaction(async (tx) => {
      const session = await openSession(createTokenStore(tx), user, 'password', client, source)
      if (!session) throw new DomainError('invalidCredentials')
      await createFamiliarStore(tx).rememberNetwork(user.userId, source.address)
      const caller = { principal: user, address: source.address }
      await recordAudit(tx, auditEventOf(caller, 'sign-in', undefined, { method: 'password', clientId }))
      return session.pair
    })
  }

  /**
   * A second use of a code by its client means that another program has code and verifier: what the first gave ends
   * (RFC 6749 4.1.2). Without the verifier it means nothing: a code alone, as logs and histories hold it, ends no
   * session. The row is locked, so that of two uses at once one is the second.
   */
  async function grantCode(request: CodeRequest, source: TokenSource): Promise<TokenResponse> {
    const client = await requireClientFor(request.grantType, request.clientId)
    if (!isSecret(request.code)) throw new DomainError('invalidGrant')
    const pair = await relational.transaction(async (tx) => {
      const codes = createCodeStore(tx)
      const codeHash = hashSecret(request.code)
      const code = await codes.lockCode(codeHash)
      if (!code || code.clientId !== client.id) return undefined
      if (code.codeChallenge !== challengeOf(request.codeVerifier)) return undefined
      if (code.isUsed) {
        await codes.revokeGiven(codeHash)
        await recordTheft(tx, code, { reason: 'code-used-twice', clientId: client.id }, source.address)
        return undefined
      }
      const isCodeValid = code.isAlive && code.redirectUri === request.redirectUri
      const session = isCodeValid
        ? await openSession(createTokenStore(tx), code, code.method, client, source)
        : undefined
      if (!session) return undefined
      await codes.markUsed(codeHash, session.refreshTokenId)
      return session.pair
    })
    if (!pair) throw new DomainError('invalidGrant')
    return pair
  }

  async function grantRefresh(request: RefreshRequest, source: RequestSource): Promise<TokenResponse> {
    const client = await requireClientFor(request.grantType, request.clientId)
    await tokens.sweepEnded()
    if (!isSecret(request.refreshToken)) throw new DomainError('invalidGrant')
    const accessToken = newSecret(random)
    const refresh: SessionRefresh = {
      clientId: client.id,
      address: networkOf(source.address),
      refreshTokenHash: hashSecret(request.refreshToken),
      accessTokenId: newId(),
      accessTokenHash: hashSecret(accessToken),
    }
    if (client.rotatesRefreshTokens) return body(accessToken, await rotate(refresh, source))
    if (!(await tokens.refreshSession(refresh))) throw new DomainError('invalidGrant')
    return body(accessToken, request.refreshToken)
  }

  /** Issues the next refresh token, or ends the session of a reused one, whose successor may be stolen. */
  async function rotate(refresh: SessionRefresh, source: RequestSource): Promise<string> {
    const rotation = createRotationStore(relational.db)
    await rotation.sweepEarlier()
    const refreshToken = newSecret(random)
    const rotated = await rotation.rotateSession({ ...refresh, nextTokenHash: hashSecret(refreshToken) })
    if (rotated?.isReused) await endReused(rotated.sessionId, refresh.clientId, source)
    if (!rotated || rotated.isReused) throw new DomainError('invalidGrant')
    return refreshToken
  }

  /** Of several uses at once the one that ends the session is recorded. */
  async function endReused(sessionId: string, clientId: string, { address }: RequestSource): Promise<void> {
    await relational.transaction(async (tx) => {
      const ended = await createRotationStore(tx).endSession(sessionId)
      if (!ended) return
      await recordTheft(tx, ended, { reason: 'refresh-token-used-twice', clientId }, address)
    })
  }

  return {
    /**
     * Grants a token request.
     * @throws DomainError `invalidClient`, `unauthorizedClient`, `invalidGrant`, `invalidCredentials`,
     *   `otpRequired`, `tooManyAttempts`, `signInUnavailable`, or `invalidTokenRequest` for a password over the limit
     */
    async grant(request: TokenRequest, source: TokenSource): Promise<TokenResponse> {
      if (request.grantType === 'password' && isPasswordTooLong(request.password)) {
        const message = `must have at most ${maximumPasswordBytes} bytes`
        const errors = [{ path: 'password', message }]
        throw new DomainError('invalidTokenRequest', { errors }, { message: `password ${message}` })
      }
      switch (request.grantType) {
        case 'password':
          return grantPassword(request, source)
        case 'refresh_token':
          return grantRefresh(request, source)
        case 'authorization_code':
          return grantCode(request, source)
      }
    },

    /**
     * Revokes a token; an unknown or ended one is ignored.
     * @throws DomainError `invalidClient`, or `invalidGrant` for a token of another client
     */
    async revoke(
      { clientId, token }: RevocationRequest,
      { address }: Pick<RequestSource, 'address'>,
    ): Promise<void> {
      const client = await requireClient(clientId)
      if (!isSecret(token)) return
      await relational.transaction(async (tx) => {
        const revoked = await createTokenStore(tx).revoke(hashSecret(token), client.id)
        if (!revoked) return
        if (!revoked.isOwn)
          throw new DomainError('invalidGrant', {}, { message: 'The token was given to another client' })
        const action = revoked.isSession ? 'sign-out' : 'token-revoke'
        const caller = { principal: revoked, address }
        await recordAudit(tx, auditEventOf(caller, action, undefined, { clientId: client.id }))
      })
    },
  }
}
