import { boolean, json, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, id, instant } from './columns.ts'

export const personErasures = pgTable('person_erasures', {
  id: id('id').primaryKey(),
  companyId: id('company_id').notNull(),
  requestedBy: id('requested_by').notNull(),
  requestedAt: instant('requested_at').notNull().defaultNow(),
  /** Who is meant; null once it is done. */
  sealedReference: bytes('sealed_reference'),
  /** Hashes of the identifiers of one that is repeated after a restore; null otherwise. */
  digests: text('digests').array(),
  /** Whether that is what was found already, rows of which may be gone. */
  isFound: boolean('is_found').notNull().default(false),
  refuseUntil: instant('refuse_until').notNull(),
  finishedAt: instant('finished_at'),
  removed: json('removed').$type<Record<string, number>>(),
})

/** Keyed hashes of identifiers of which no event is taken. */
export const erasedIdentifiers = pgTable(
  'erased_identifiers',
  {
    companyId: id('company_id').notNull(),
    digest: text('digest').notNull(),
    refuseUntil: instant('refuse_until').notNull(),
  },
  ({ companyId, digest }) => [primaryKey({ columns: [companyId, digest] })],
)
