import { familiarOrigins } from '../../../database/tables/familiar-origin.ts'
import { users } from '../../../database/tables/user.ts'
import { hashSecret, isSecret } from '../../../platform/crypto/secrets.ts'
import { networkOf } from '../../../platform/network-address.ts'
import { and, eq, sql } from '../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../platform/stores/relational.ts'

/** How familiar the source of an attempt is. */
export interface Familiarity {
  /** Whom the address signs in to, by whom failures are counted: a user keeps them under another address. */
  readonly userId: string | undefined
  /** The user signed in from this network lately. */
  readonly hasNetwork: boolean
  /** The user signed in with this browser lately. */
  readonly hasDevice: boolean
  /** Some user signed in from this network or with this browser lately. */
  readonly isKnown: boolean
}

/** A network passes to other users sooner than a browser. */
const lifetimeDays = { network: 30, device: 90 } as const

/** How many networks, and how many browsers, are kept for a user: the most recently used. */
const maxPerKind = 20

/** A second use within this time is not written. */
const refreshAfter = '1 hour'

const hashNetwork = (address: string): Buffer => hashSecret(`network ${networkOf(address)}`)

/** Nothing has this hash. */
const noHash = Buffer.alloc(32)

/** The hash of a secret that a browser sent; one of nothing for what is no secret. */
export const hashDevice = (secret: string | undefined): Buffer =>
  secret !== undefined && isSecret(secret) ? hashSecret(secret) : noHash

export type FamiliarStore = ReturnType<typeof createFamiliarStore>

/** Where users have signed in; given a transaction it works inside it. */
export function createFamiliarStore(db: Queries) {
  const execute = sqlOn(db)

  async function remember(userId: string, kind: 'network' | 'device', hash: Buffer): Promise<void> {
    const { rowCount } = await db.execute(
      sql`insert into ${familiarOrigins} as known (user_id, kind, origin_hash, used_at, expires_at)
        values (${userId}, ${kind}, ${hash}, now(), now() + make_interval(days => ${lifetimeDays[kind]}))
        on conflict (user_id, origin_hash) do update set used_at = excluded.used_at, expires_at = excluded.expires_at
        where known.used_at < now() - ${refreshAfter}::interval`,
    )
    if ((rowCount ?? 0) === 0) return
    await execute`
      delete from ${familiarOrigins} where user_id = ${userId} and kind = ${kind} and (
      expires_at < now() or origin_hash not in (
        select origin_hash from ${familiarOrigins} where user_id = ${userId} and kind = ${kind}
        order by used_at desc, origin_hash limit ${maxPerKind}))`
  }

  return {
    /** One statement, the same for every address and browser. */
    async find(email: string, address: string, deviceHash: Buffer): Promise<Familiarity> {
      const network = hashNetwork(address)
      const hasOwn = (hash: Buffer) => sql`exists (
        select 1 from ${familiarOrigins} as origin join ${users} as owner on owner.id = origin.user_id
        where owner.email = ${email} and owner.holds_email and owner.status = 'active' and origin.origin_hash = ${hash}
          and origin.expires_at > now())`
      const rows = await execute<Familiarity>`
        select (
        select id from ${users} where email = ${email} and holds_email and status <> 'deleted'
      ) as "userId", ${hasOwn(network)} as "hasNetwork", ${hasOwn(deviceHash)} as "hasDevice", exists (
        select 1 from ${familiarOrigins} where origin_hash in (${network}, ${deviceHash}) and expires_at > now()
      ) as "isKnown"`
      const [row] = rows
      if (!row) throw new Error('a select without a table gives its row')
      return { ...row, userId: row.userId ?? undefined }
    },

    rememberNetwork: (userId: string, address: string): Promise<void> =>
      remember(userId, 'network', hashNetwork(address)),

    /**
     * The browser gets another secret with each sign-in, so that a planted or copied one is worthless afterwards.
     * @param formerHash of the secret that it had
     */
    async rememberDevice(userId: string, formerHash: Buffer, hash: Buffer): Promise<void> {
      await db
        .delete(familiarOrigins)
        .where(and(eq(familiarOrigins.userId, userId), eq(familiarOrigins.originHash, formerHash)))
      await remember(userId, 'device', hash)
    },
  }
}
