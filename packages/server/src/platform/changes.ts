/** What a change did, for the audit log. */
export interface Changes {
  /** Every field that is another one now, by name. */
  readonly changed: readonly string[]
  /** Values before and after, of those fields that say nothing personal. */
  readonly from: Readonly<Record<string, unknown>>
  readonly to: Readonly<Record<string, unknown>>
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * The fields of `wanted` that differ from `present`; undefined ones are not wanted. Entries of the audit log
 * outlive users, so that values of `personal` fields are left out of it.
 */
export function changesOf<T extends object>(
  present: T,
  wanted: { readonly [K in keyof T]?: T[K] | undefined },
  personal: ReadonlySet<string> = new Set(),
): Changes {
  const fields = (Object.keys(wanted) as (keyof T & string)[]).filter(
    (field) => wanted[field] !== undefined && !same(present[field], wanted[field]),
  )
  const shown = fields.filter((field) => !personal.has(field))
  return {
    changed: fields,
    from: Object.fromEntries(shown.map((field) => [field, present[field]])),
    to: Object.fromEntries(shown.map((field) => [field, wanted[field]])),
  }
}

/** Without the fields that are undefined: those stay as they are. */
export function definedOf<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
