import type { Relational } from '../../src/platform/stores/relational.ts'
import { type Auth, goodPassword, type TokenCall, testRedirectUri } from './auth.ts'

export interface Pair {
  readonly access_token: string
  readonly refresh_token: string
}

/** A user's sessions in a client that rotates its refresh tokens. */
export async function createRotation(auth: Auth, { pool }: Pick<Relational, 'pool'>, email: string) {
  const { id: clientId } = await auth.clients.createClient({
    name: 'rotating',
    grants: [],
    redirectUris: [testRedirectUri],
    rotatesRefreshTokens: true,
  })
  const user = await auth.addUser(email)
  const refresh = (token: string, call: TokenCall = {}) => auth.refresh(token, clientId, call)

  return {
    email,
    clientId,
    userId: user.id,
    refresh,

    async signIn(): Promise<Pair> {
      const body = { grant_type: 'password', client_id: clientId, username: email, password: goodPassword }
      const reply = await auth.post(body)
      if (reply.statusCode !== 200) throw new Error(reply.body)
      return reply.json()
    },

    /** A refresh that has to succeed. */
    async next(token: string, call: TokenCall = {}): Promise<Pair> {
      const reply = await refresh(token, call)
      if (reply.statusCode !== 200) throw new Error(reply.body)
      return reply.json()
    },

    /** Whether an access token opens anything, past what the process remembers of it. */
    async opens({ access_token }: Pair): Promise<boolean> {
      auth.cache.forget()
      return (await auth.get(access_token)).statusCode === 200
    },

    /** Sessions of this person that were ended for a reuse, as the audit log tells. */
    async endings(): Promise<Record<string, unknown>[]> {
      const { rows } = await pool.query(
        `select category, actor_kind, target_kind, target_id, target_name, outcome, details, address, company_id
         from audit_entries where action = 'token-revoke' and target_id = $1`,
        [user.id],
      )
      return rows
    },
  }
}

export type Rotation = Awaited<ReturnType<typeof createRotation>>
