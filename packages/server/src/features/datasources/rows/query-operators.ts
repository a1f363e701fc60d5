import type { QueriableField, WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import { familyOf, isSortable, operatorsOf } from '@millrace/contract/resources/filter-operators.ts'

/** What the fields of a version can be asked for. */
export function queriableFields(fields: readonly WorkerField[]): QueriableField[] {
  return fields.map((field) => ({
    name: field.name,
    type: field.type,
    primitive: field.primitive,
    unique: field.isKey === true,
    sortable: isSortable(field),
    allowedOperators: [...operatorsOf[familyOf[field.primitive]]],
  }))
}
