import { companies } from '../../../../database/tables/company.ts'
import { oauthClients } from '../../../../database/tables/oauth-client.ts'
import { userAuthenticators } from '../../../../database/tables/sign-in.ts'
import { accessTokens, earlierRefreshTokens, refreshTokens } from '../../../../database/tables/token.ts'
import { users } from '../../../../database/tables/user.ts'
import { and, columnsOf, eq, type Row, type SQL, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'

const clientColumns = columnsOf(oauthClients, [
  'id',
  'name',
  'grants',
  'redirectUris',
  'firstParty',
  'rotatesRefreshTokens',
])

export type Client = Row<typeof clientColumns>

/** A user who might sign in with a password. */
export interface Credentials {
  readonly userId: string
  readonly companyId: string
  readonly email: string
  /** Null where no password signs this user in. */
  readonly passwordHash: string | null
  /** Whether a one-time code must be right too before anything is given. */
  readonly needsCode: boolean
  /** Why not, for the audit log. */
  readonly refusal: 'company-closed' | 'deactivated' | 'invited' | 'sso-required' | 'no-password' | undefined
}

/** A session to open: what is checked again at that moment, and the new tokens' ids and hashes. */
export interface NewSession {
  /** With single sign-on there is no password to be the same still. */
  readonly user: Pick<Credentials, 'userId' | 'passwordHash'>
  readonly method: 'password' | 'sso'
  readonly clientId: string
  readonly address: string
  readonly userAgent: string
  readonly refreshTokenId: string
  /** Null for a client that may not refresh: nothing gives the session another access token. */
  readonly refreshTokenHash: Buffer | null
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

/** Whether single sign-on has replaced this user's password; service accounts keep theirs. */
const ssoRequired = sql`(not service_account and requires_single_sign_on(company_id, email))`

/** Whether the company of this user is closed. */
const isClosed = sql`exists (
  select 1 from ${companies} as company where company.id = company_id and company.closed_at is not null)`

/** Whether the session `session` of the user `owner` may continue. */
export const sessionIsValid: SQL = sql`(owner.status = 'active' and (session.method = 'sso' or owner.service_account
  or not requires_single_sign_on(owner.company_id, owner.email)))`

/** Whether the session `session` still has a token: without a refresh token it has ended with its last access token. */
export const sessionHasToken: SQL = sql`(session.expires_at > now() and (session.token_hash is not null or exists (
  select 1 from ${accessTokens} as token
  where token.refresh_token_id = session.id and token.expires_at > now())))`

/** Order of users `owner` with the same address: first the user whom it signs in, invited users last. */
export const addressOrder: SQL = sql`owner.holds_email desc, owner.status = 'invited', owner.created_at`

/** The session of a refresh token and which of its generations the token is of, given last or earlier. */
export const knownRefreshTokens = (tokenHash: Buffer): SQL => sql`(
  select id as session_id, generation, expires_at from ${refreshTokens} where token_hash = ${tokenHash}
  union all
  select refresh_token_id, generation, expires_at from ${earlierRefreshTokens} where token_hash = ${tokenHash})`

/** When tokens end that are given now (docs/interface.md, Authentication 6). */
export const accessEnd: SQL = sql`now() + interval '1 hour'`
export const refreshEnd: SQL = sql`now() + interval '30 days'`

/** A token that was to be revoked, and whose it is. */
export interface RevokedToken {
  /** Of the client that asks; others stay as they are. */
  readonly isOwn: boolean
  /** A refresh token, whose access tokens went along; an access token otherwise. */
  readonly isSession: boolean
  readonly userId: string
  readonly companyId: string
  readonly email: string
}

/** How many rows one sweep deletes at most, so that no request pays for many. */
const sweepSize = 50

export type TokenStore = ReturnType<typeof createTokenStore>

/** Clients, credentials and tokens; given a transaction it works inside it. All times are the database's (docs/faults.md, T12). */
export function createTokenStore(db: Queries) {
  const execute = sqlOn(db)

  return {
    /** The client, if it is known and active. */
    async findClient(clientId: string): Promise<Client | undefined> {
      const [row] = await db
        .select(clientColumns)
        .from(oauthClients)
        .where(and(eq(oauthClients.id, clientId), oauthClients.active))
      return row
    },

    /** Who signs in with this address, as `parseEmailAddress` gives it, or is invited with it at least. */
    async findCredentials(email: string): Promise<Credentials | undefined> {
      const rows = await execute<Omit<Credentials, 'email'>>`
        select id as "userId", company_id as "companyId", refusal,
          case when refusal is null then password_hash end as "passwordHash",
          exists (
            select 1 from ${userAuthenticators} where user_id = owner.id and confirmed_at is not null
          ) as "needsCode"
        from ${users} as owner, lateral (select case
            when ${isClosed} then 'company-closed' when status = 'disabled' then 'deactivated' when status = 'invited' then 'invited'
            when ${ssoRequired} then 'sso-required' when password_hash is null then 'no-password'
          end as refusal) as state
        where email = ${email} and status <> 'deleted' order by ${addressOrder} limit 1`
      const [row] = rows
      return row && { ...row, email, refusal: row.refusal ?? undefined }
    },

    /** The living session of this user that a refresh token belongs to; undefined for one that was replaced. */
    async findSessionOf(email: string, refreshTokenHash: Buffer): Promise<string | undefined> {
      const rows = await execute<{
        id: string
      }>`
        select session.id from ${knownRefreshTokens(refreshTokenHash)} as known
          join ${refreshTokens} as session
            on session.id = known.session_id and session.generation = known.generation
          join ${users} as owner on owner.id = session.user_id
        where session.expires_at > now() and owner.email = ${email} and owner.status = 'active'
          and owner.holds_email`
      return rows[0]?.id
    },

    /**
     * Opens a session if the user is still active with the password that was verified, or came by single sign-on. The
     * user's row is locked meanwhile, so that a change that ends all sessions ends this one too. One statement: a
     * crash leaves both tokens or none.
     */
    async openSession(session: NewSession): Promise<boolean> {
      const { user, method } = session
      const isStillTrue =
        method === 'sso'
          ? sql`true`
          : sql`password_hash is not distinct from ${user.passwordHash} and not ${ssoRequired}`
      const rows = await execute`
        with owner as (
          update ${users} set last_sign_in_at = now()
          where id = ${user.userId} and status = 'active' and not ${isClosed} and ${isStillTrue}
          returning id
        ), opened as (
          insert into ${refreshTokens}
            (id, token_hash, user_id, client_id, address, user_agent, created_at, used_at, expires_at, method)
          select ${session.refreshTokenId}, ${session.refreshTokenHash}::bytea, id, ${session.clientId},
            ${session.address}, ${session.userAgent}, now(), now(), ${refreshEnd}, ${method} from owner
          returning id
        )
        insert into ${accessTokens} (id, token_hash, refresh_token_id, created_at, expires_at)
        select ${session.accessTokenId}, ${session.accessTokenHash}::bytea, id, now(), ${accessEnd} from opened
        returning id`
      return rows.length > 0
    },

    /**
     * Makes an access token from a refresh token of this client and moves the refresh token's end, which never
     * moves back. False when the token is unknown, has ended, or its client or user is not active.
     */
    async refreshSession(refresh: SessionRefresh): Promise<boolean> {
      const rows = await execute`
        with refreshed as (
          update ${refreshTokens} as session
          set expires_at = greatest(session.expires_at, ${refreshEnd}), used_at = now(),
            address = ${refresh.address}
          from ${users} as owner, ${oauthClients} as client
          where session.token_hash = ${refresh.refreshTokenHash} and session.client_id = ${refresh.clientId}
            and session.expires_at > now()
            and owner.id = session.user_id and ${sessionIsValid}
            and client.id = session.client_id and client.active
          returning session.id
        )
        insert into ${accessTokens} (id, token_hash, refresh_token_id, created_at, expires_at)
        select ${refresh.accessTokenId}, ${refresh.accessTokenHash}::bytea, id, now(), ${accessEnd} from refreshed
        returning id`
      return rows.length > 0
    },

    /**
     * Ends the token with this hash if it belongs to the client: a refresh token, also an earlier one, with its
     * session's access tokens, an access token alone. Undefined for an unknown token.
     */
    async revoke(tokenHash: Buffer, clientId: string): Promise<RevokedToken | undefined> {
      const rows = await execute<RevokedToken>`
        with found as (
          select session.id as session_id, null as token_id, session.user_id, session.client_id = ${clientId} as own
          from ${knownRefreshTokens(tokenHash)} as known
            join ${refreshTokens} as session on session.id = known.session_id
          union all
          select null, token.id, session.user_id, session.client_id = ${clientId}
          from ${accessTokens} as token join ${refreshTokens} as session on session.id = token.refresh_token_id
          where token.token_hash = ${tokenHash}
        ), ended_sessions as (
          delete from ${refreshTokens} where id in (select session_id from found where own)
        ), ended_tokens as (
          delete from ${accessTokens} where id in (select token_id from found where own)
        )
        select found.own as "isOwn", found.session_id is not null as "isSession", owner.id as "userId",
          owner.company_id as "companyId", owner.email
        from found join ${users} as owner on owner.id = found.user_id`
      return rows[0]
    },

    /** Keeps a new hash of the same password, if the password has not been changed meanwhile. */
    async replaceHash(user: Pick<Credentials, 'userId' | 'passwordHash'>, newHash: string): Promise<boolean> {
      const { rowCount } = await db.execute(
        sql`update ${users} set password_hash = ${newHash}
          where id = ${user.userId} and password_hash = ${user.passwordHash}`,
      )
      return (rowCount ?? 0) > 0
    },

    /** Deletes some tokens that have ended. */
    async sweepEnded(): Promise<void> {
      for (const table of [accessTokens, refreshTokens]) {
        await execute`
          delete from ${table} where id in (
          select id from ${table} where expires_at < now() - interval '1 minute'
          order by expires_at limit ${sweepSize} for update skip locked)`
      }
    },
  }
}
