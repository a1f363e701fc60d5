import { customType, integer, text, timestamp } from '../../platform/stores/postgres/drizzle.ts'

/** An identifier: 24 lower-case hexadecimal characters. */
export const id = (name: string) => text(name)

/** An instant, kept with microseconds by the store and given as a `Date`. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/** What belongs to a company. */
export const owned = { id: id('id').primaryKey(), companyId: id('company_id').notNull() }

/** When a row was made and last changed, by the clock of the database. */
export const history = {
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
}

/** Of what several users save, one after the other. */
export const saves = {
  revision: integer('revision').notNull().default(1),
  /** A user, who may be gone. */
  lastSavedBy: id('last_saved_by'),
}
