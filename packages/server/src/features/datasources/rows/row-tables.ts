import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** What works inside one transaction. */
type Client = Pick<pg.PoolClient, 'query'>

/** SQLSTATE of a key that comes twice (PostgreSQL, appendix A). */
const uniqueViolation = '23505'
/** Of one statement of an import; the service's own limit is for users who wait. */
const statementMs = 15 * 60_000

/** The table of a version. An identifier of our own is the only part of a statement that is no parameter. */
export function tableOf(versionId: string): string {
  if (!/^[0-9a-f]{24}$/.test(versionId)) throw new Error('no identifier of a version')
  return `datasource_rows.v_${versionId}`
}

/** By what rows are known that name a person. */
export interface NamedPersons {
  readonly companyId: string
  /** Fields that may do so. */
  readonly fields: readonly string[]
  /** Hashes of identifiers with the salt of the company. */
  readonly digests: readonly string[]
}

/** That a row names one of the persons `$3` in one of the fields `$2` of the company `$1`. */
const namesPerson = `exists (
  select from companies as company, unnest($2::text[]) as field,
    lateral (values (person_digest(company.person_salt, 'client', present.row ->> field)),
      (person_digest(company.person_salt, 'email', lower(present.row ->> field)))) as known (digest)
  where company.id = $1 and known.digest = any($3::text[]))`

const valuesOf = ({ companyId, fields, digests }: NamedPersons) => [companyId, fields, digests]

/** Rows that are read at once. */
const readAtOnce = 100

/** Makes tables of rows and fills them, inside the transaction of a connection. */
export function createRowTables(client: Client) {
  const run = (text: string, values: unknown[] = []): Promise<pg.QueryResult> =>
    client.query({ text, values, query_timeout: statementMs } as pg.QueryConfig)

  return {
    /** Lets the statements of this transaction take longer than those that users wait for. */
    async allowTime(): Promise<void> {
      await run(
        `select set_config('statement_timeout', $1, true),
          set_config('idle_in_transaction_session_timeout', $1, true)`,
        [String(statementMs)],
      )
    },

    async make(versionId: string): Promise<void> {
      await run('select datasource_rows.make($1)', [versionId])
    },

    /**
     * Takes rows as text of COPY: position, key and row, separated by tabs, a line each.
     * `write` resolves when more may be written.
     */
    copy(versionId: string): {
      write(lines: Uint8Array): Promise<void>
      /** @returns how many rows are in the table then */
      end(): Promise<number>
      destroy(): void
    } {
      const stream = copyFrom(`copy ${tableOf(versionId)} (position, key, row) from stdin`)
      client.query(Object.assign(stream, { query_timeout: statementMs }))
      const done = finished(stream)
      // What writes or ends gets the failure.
      done.catch(() => {})
      return {
        async write(lines) {
          if (stream.write(lines)) return
          await Promise.race([new Promise<void>((resolve) => stream.once('drain', resolve)), done])
        },
        async end() {
          stream.end()
          await done
          return stream.rowCount
        },
        destroy: () => void stream.destroy(),
      }
    },

    /**
     * Makes the indexes once the rows are there. Of rows with the same key the last one stays.
     * @returns how many rows were dropped because a later one has their key
     */
    async finish(versionId: string, isKeyed: boolean): Promise<number> {
      await run('savepoint unfinished')
      try {
        await run('select datasource_rows.finish($1, $2)', [versionId, isKeyed])
        return 0
      } catch (error) {
        if ((error as { code?: string }).code !== uniqueViolation) throw error
      }
      await run('rollback to savepoint unfinished')
      const table = tableOf(versionId)
      const { rowCount } = await run(`delete from ${table} as earlier
        using (select key, max(position) as last from ${table} group by key having count(*) > 1) as repeated
        where earlier.key = repeated.key and earlier.position < repeated.last`)
      await run('select datasource_rows.finish($1, $2)', [versionId, isKeyed])
      return rowCount ?? 0
    },

    /**
     * Puts the rows of one version into another: rows with a known key take the place of those, others are added in
     * their order behind them.
     * @returns how many were added
     */
    async merge(fromVersionId: string, intoVersionId: string): Promise<number> {
      const [from, into] = [tableOf(fromVersionId), tableOf(intoVersionId)]
      await run(`update ${into} as present set row = given.row from ${from} as given
        where present.key = given.key and present.row <> given.row`)
      const { rowCount } = await run(`insert into ${into} (position, key, row)
        select (select coalesce(max(position), 0) from ${into}) + row_number() over (order by given.position),
          given.key, given.row
        from ${from} as given
        where not exists (select 1 from ${into} as present where present.key = given.key)`)
      return rowCount ?? 0
    },

    /** Of the rows with their indexes, as they are on disk. */
    async countBytes(versionId: string): Promise<number> {
      const { rows } = await run('select pg_total_relation_size($1) as bytes', [tableOf(versionId)])
      return Number(rows[0]?.bytes)
    },

    /** Hashes of persons of whom a company stores nothing. */
    async listRefused(companyId: string): Promise<string[]> {
      const { rows } = await run(
        'select digest from erased_identifiers where company_id = $1 and refuse_until > now()',
        [companyId],
      )
      return rows.map(({ digest }) => digest)
    },

    async countOfPersons(versionId: string, persons: NamedPersons): Promise<number> {
      const { rows } = await run(
        `select count(*)::int as rows from ${tableOf(versionId)} as present where ${namesPerson}`,
        valuesOf(persons),
      )
      return rows[0].rows
    },

    /** @returns how many rows were removed */
    async removeOfPersons(versionId: string, persons: NamedPersons): Promise<number> {
      const { rowCount } = await run(
        `delete from ${tableOf(versionId)} as present where ${namesPerson}`,
        valuesOf(persons),
      )
      return rowCount ?? 0
    },

    /**
     * Rows that name persons, in their order, some at a time.
     * @param after position behind which they are
     */
    async readOfPersons(
      versionId: string,
      persons: NamedPersons,
      after: string,
    ): Promise<{ readonly rows: readonly object[]; readonly last: string | undefined }> {
      const { rows } = await run(
        `select position::text, row from ${tableOf(versionId)} as present
         where position > $4 and ${namesPerson} order by position limit ${readAtOnce}`,
        [...valuesOf(persons), after],
      )
      return {
        rows: rows.map(({ row }) => row),
        last: rows.length < readAtOnce ? undefined : rows[rows.length - 1].position,
      }
    },

    async remove(versionId: string): Promise<void> {
      await run('select datasource_rows.remove($1)', [versionId])
    },
  }
}
