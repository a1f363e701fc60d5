import { type SQL, type SQLWrapper, sql } from '../../platform/stores/postgres/drizzle.ts'

/** Id of the key under which a secret is sealed: it stands behind the first byte. Null for what is too short for one. */
export const sealingKeyOf = (secret: SQLWrapper): SQL =>
  sql`case when length(${secret}) > 4 then encode(substr(${secret}, 2, 4), 'hex') end`
