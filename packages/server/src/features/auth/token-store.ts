import { sql } from 'drizzle-orm'
import { databaseNow, type SqlNow } from '../../database/now.ts'
import { oauthClients } from '../../database/tables/oauth-client.ts'
import { accessTokens, refreshTokens } from '../../database/tables/token.ts'
import { users } from '../../database/tables/user.ts'
import type { Relational } from '../../platform/stores/relational.ts'

export interface Client {
  readonly id: string
  /** Values of `grant_type` that it may use. */
  readonly grants: readonly string[]
}

export interface UserCredentials {
  readonly userId: string
  /** Null for a person without a password of their own. */
  readonly passwordHash: string | null
}

/** A session to open: what is checked again at that moment, and the new tokens' ids and hashes. */
export interface NewSession {
  readonly user: UserCredentials
  readonly clientId: string
  readonly address: string
  readonly refreshTokenId: string
  readonly refreshTokenHash: Buffer
  readonly accessTokenId: string
  readonly accessTokenHash: Buffer
}

export interface SessionRefresh {
  readonly clientId: string
  readonly address: string
  readonly refreshTokenHash: Buffer
  readonly accessTokenId: string
  readonly accessTokenHash: Buffer
}

/** Most rows that one sweep takes away, so that no request pays for many. */
const sweepSize = 50

export type TokenStore = ReturnType<typeof createTokenStore>

/** Clients, credentials and tokens. All times are the database's (faults.md, T12). */
export function createTokenStore(relational: Pick<Relational, 'db'>, now: SqlNow = databaseNow) {
  const { db } = relational
  /** interface.md, Authentication 6. */
  const accessEnd = () => sql`${now()} + interval '1 hour'`
  const refreshEnd = () => sql`${now()} + interval '30 days'`

  return {
    /** The client, if it is known and active. */
    async findClient(clientId: string): Promise<Client | undefined> {
      const { rows } = await db.execute<{ id: string; grants: string[] }>(
        sql`select id, grants from ${oauthClients} where id = ${clientId} and active`,
      )
      return rows[0]
    },

    /** The credentials of an active person; the address as `parseEmailAddress` gives it. */
    async findCredentials(email: string): Promise<UserCredentials | undefined> {
      const { rows } = await db.execute<{ id: string; password_hash: string | null }>(
        sql`select id, password_hash from ${users} where email = ${email} and status = 'active'`,
      )
      return rows[0] && { userId: rows[0].id, passwordHash: rows[0].password_hash }
    },

    /** Whether a session of this person that still lives was last used from this address. */
    async hasSessionFrom(email: string, address: string): Promise<boolean> {
      const { rows } = await db.execute(
        sql`select 1 from ${refreshTokens} as session join ${users} as owner on owner.id = session.user_id
          where owner.email = ${email} and owner.status = 'active'
            and session.address = ${address} and session.expires_at > ${now()} limit 1`,
      )
      return rows.length > 0
    },

    /** The living session of this person that a refresh token belongs to. */
    async findSessionOf(email: string, refreshTokenHash: Buffer): Promise<string | undefined> {
      const { rows } = await db.execute<{ id: string }>(
        sql`select session.id from ${refreshTokens} as session join ${users} as owner on owner.id = session.user_id
          where session.token_hash = ${refreshTokenHash} and session.expires_at > ${now()}
            and owner.email = ${email} and owner.status = 'active'`,
      )
      return rows[0]?.id
    },

    /**
     * Opens a session if the person is still active with the password that was verified. The person's row is
     * locked against a change meanwhile, so that whoever ends all sessions ends this one too. One statement:
     * a crash leaves both tokens or none.
     */
    async openSession(session: NewSession): Promise<boolean> {
      const { rows } = await db.execute(
        sql`with owner as (
            select id from ${users}
            where id = ${session.user.userId} and status = 'active'
              and password_hash is not distinct from ${session.user.passwordHash}
            for share
          ), opened as (
            insert into ${refreshTokens} (id, token_hash, user_id, client_id, address, created_at, expires_at)
            select ${session.refreshTokenId}, ${session.refreshTokenHash}::bytea, id, ${session.clientId},
              ${session.address}, ${now()}, ${refreshEnd()} from owner
            returning id
          )
          insert into ${accessTokens} (id, token_hash, refresh_token_id, created_at, expires_at)
          select ${session.accessTokenId}, ${session.accessTokenHash}::bytea, id, ${now()}, ${accessEnd()} from opened
          returning id`,
      )
      return rows.length > 0
    },

    /**
     * Makes an access token from a refresh token of this client and moves the refresh token's end, which never
     * moves back. False when the token is unknown, has ended, or its client or person is not active.
     */
    async refreshSession(refresh: SessionRefresh): Promise<boolean> {
      const { rows } = await db.execute(
        sql`with refreshed as (
            update ${refreshTokens} as session
            set expires_at = greatest(session.expires_at, ${refreshEnd()}), address = ${refresh.address}
            from ${users} as owner, ${oauthClients} as client
            where session.token_hash = ${refresh.refreshTokenHash} and session.client_id = ${refresh.clientId}
              and session.expires_at > ${now()}
              and owner.id = session.user_id and owner.status = 'active'
              and client.id = session.client_id and client.active
            returning session.id
          )
          insert into ${accessTokens} (id, token_hash, refresh_token_id, created_at, expires_at)
          select ${refresh.accessTokenId}, ${refresh.accessTokenHash}::bytea, id, ${now()}, ${accessEnd()} from refreshed
          returning id`,
      )
      return rows.length > 0
    },

    /**
     * Ends the token with this hash if it belongs to the client: a refresh token with its access tokens, an access
     * token alone.
     * @returns whose the token is, or was until now
     */
    async revoke(tokenHash: Buffer, clientId: string): Promise<'own' | 'foreign' | 'unknown'> {
      const { rows } = await db.execute<{ own: boolean }>(
        sql`with found as (
            select id as session_id, null as token_id, client_id = ${clientId} as own
            from ${refreshTokens} where token_hash = ${tokenHash}
            union all
            select null, token.id, session.client_id = ${clientId}
            from ${accessTokens} as token join ${refreshTokens} as session on session.id = token.refresh_token_id
            where token.token_hash = ${tokenHash}
          ), ended_sessions as (
            delete from ${refreshTokens} where id in (select session_id from found where own)
          ), ended_tokens as (
            delete from ${accessTokens} where id in (select token_id from found where own)
          )
          select own from found`,
      )
      const [row] = rows
      if (!row) return 'unknown'
      return row.own ? 'own' : 'foreign'
    },

    /** Keeps a new hash of the same password, if the password has not been changed meanwhile. */
    async replaceHash(user: UserCredentials, newHash: string): Promise<boolean> {
      const { rowCount } = await db.execute(
        sql`update ${users} set password_hash = ${newHash}
          where id = ${user.userId} and password_hash = ${user.passwordHash}`,
      )
      return (rowCount ?? 0) > 0
    },

    /** Takes away some tokens that have ended. */
    async sweepEnded(): Promise<void> {
      for (const table of [accessTokens, refreshTokens]) {
        await db.execute(
          sql`delete from ${table} where id in (
            select id from ${table} where expires_at < ${now()} - interval '1 minute'
            order by expires_at limit ${sweepSize} for update skip locked)`,
        )
      }
    },
  }
}
