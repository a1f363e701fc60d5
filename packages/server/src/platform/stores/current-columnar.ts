import type { Columnar } from './columnar.ts'
import { ColumnarUnavailable } from './columnar-errors.ts'

/** A store that answers nothing while it is not up to date: half of its tables may be those of another version. */
export function requireCurrentColumnar(columnar: Columnar, isUpToDate: () => boolean): Columnar {
  const requireUpToDate = (): void => {
    if (isUpToDate()) return
    throw new ColumnarUnavailable(
      new Error('the columnar store is not up to date'),
      'Statistics cannot be answered: their store is not up to date yet. Events are accepted, and counted later',
    )
  }
  return {
    ...columnar,
    async query(statement) {
      requireUpToDate()
      return columnar.query(statement)
    },
    async stream(statement) {
      requireUpToDate()
      return columnar.stream(statement)
    },
    async command(statement) {
      requireUpToDate()
      return columnar.command(statement)
    },
    async insert(insert) {
      requireUpToDate()
      return columnar.insert(insert)
    },
  }
}
