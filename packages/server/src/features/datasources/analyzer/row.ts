/** A value by the primitive of its field: `datetime` is milliseconds since 1970, `datetime_iso` an ISO 8601 text in UTC. */
export type RowValue =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly number[]
  | Readonly<Record<string, string>>
  | Readonly<Record<string, number>>

/** A row by the names of its fields. A field without value is absent. */
export type Row = Readonly<Record<string, RowValue>>

/** What a field of an entry lacks. Rules are types of the datasource's log. */
export interface RowFault {
  readonly field: string
  /** `invalid_type`: a value that the type cannot take. `required_values_empty`: no value, without `ignoreIfMissing`. */
  readonly rule: 'invalid_type' | 'required_values_empty'
  readonly message: string
  /** The value that is not taken, at most 100 characters of it. */
  readonly sample?: string
}

/** `row` is absent where a field without `ignoreIfMissing` has no value: the entry is left out. */
export interface MappedRow {
  readonly row?: Row
  readonly faults: readonly RowFault[]
}
