import { oauthClients } from '../../../../database/tables/oauth-client.ts'
import { accessTokens, earlierRefreshTokens, refreshTokens } from '../../../../database/tables/token.ts'
import { users } from '../../../../database/tables/user.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'
import {
  accessEnd,
  knownRefreshTokens,
  type RevokedToken,
  refreshEnd,
  type SessionRefresh,
  sessionIsValid,
} from './token-store.ts'

export interface SessionRotation extends SessionRefresh {
  /** Of the refresh token that is given now. */
  readonly nextTokenHash: Buffer
}

export interface RotatedSession {
  readonly sessionId: string
  /** The token was replaced too long ago: nothing was issued, because two clients hold tokens of this session. */
  readonly isReused: boolean
}

type SessionOwner = Pick<RevokedToken, 'userId' | 'companyId' | 'email'>

/** How many rows one sweep deletes at most. Every rotation adds one. */
const sweepSize = 50

/**
 * Sessions whose refresh tokens are replaced by use (RFC 9700 4.14.2); given a transaction it works inside it. All
 * times are the database's.
 */
export function createRotationStore(db: Queries) {
  const execute = sqlOn(db)

  return {
    /**
     * Makes an access token and the next refresh token from a refresh token of this client. A token of the present
     * generation begins the next one. A token of the generation before is good for 30 s after that, for requests at
     * once and for answers that were lost: it gives one more token of the present generation. Any older one is
     * reused. Undefined when the token is unknown, has ended, or its client or user is not active.
     *
     * One statement: a crash leaves all tokens or none. The generation of a token never changes and is read first;
     * that of the session is checked once its row is locked, as the lock's former holder has left it.
     */
    async rotateSession(rotation: SessionRotation): Promise<RotatedSession | undefined> {
      const rows = await execute<RotatedSession>`
        with known as materialized ${knownRefreshTokens(rotation.refreshTokenHash)},
        checked as (
          select session.id, session.token_hash, session.generation, session.expires_at, ${sessionIsValid} as is_valid,
            case
              when known.generation = session.generation then 'present'
              when known.generation = session.generation - 1
                and session.replaced_at > now() - interval '30 seconds' then 'before'
              when known.expires_at > now() then 'reused'
            end as use
          from known join ${refreshTokens} as session on session.id = known.session_id
            join ${users} as owner on owner.id = session.user_id
            join ${oauthClients} as client on client.id = session.client_id
          where session.client_id = ${rotation.clientId} and session.expires_at > now() and client.active
          for update of session
        ), good as (
          select * from checked where use in ('present', 'before') and is_valid
        ), kept as (
          insert into ${earlierRefreshTokens} (token_hash, refresh_token_id, generation, expires_at)
          select token_hash, id, generation, greatest(expires_at, ${refreshEnd}) from good
        ), refreshed as (
          update ${refreshTokens} as session
          set token_hash = ${rotation.nextTokenHash}::bytea,
            generation = session.generation + case use when 'present' then 1 else 0 end,
            replaced_at = case use when 'present' then now() else session.replaced_at end,
            expires_at = greatest(session.expires_at, ${refreshEnd}), used_at = now(),
            address = ${rotation.address}
          from good where session.id = good.id
          returning session.id
        ), given as (
          insert into ${accessTokens} (id, token_hash, refresh_token_id, created_at, expires_at)
          select ${rotation.accessTokenId}, ${rotation.accessTokenHash}::bytea, id, now(), ${accessEnd}
          from refreshed
        )
        select id as "sessionId", use = 'reused' as "isReused" from checked
        where use = 'reused' or id in (select id from good)`
      return rows[0]
    },

    /** Ends a session with all its tokens; undefined when it has ended before. */
    async endSession(sessionId: string): Promise<SessionOwner | undefined> {
      const rows = await execute<SessionOwner>`
        with ended as (delete from ${refreshTokens} where id = ${sessionId} returning user_id)
        select owner.id as "userId", owner.company_id as "companyId", owner.email
        from ended join ${users} as owner on owner.id = ended.user_id`
      return rows[0]
    },

    /** Deletes some tokens that would have ended, had nothing replaced them. */
    async sweepEarlier(): Promise<void> {
      await execute`
        delete from ${earlierRefreshTokens} where token_hash in (
        select token_hash from ${earlierRefreshTokens} where expires_at < now() - interval '1 minute'
        order by expires_at limit ${sweepSize} for update skip locked)`
    },
  }
}
