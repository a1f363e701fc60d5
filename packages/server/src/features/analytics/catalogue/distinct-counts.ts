import type { PlainMeasure } from './member.ts'

/** Distinct counts of all rows together are exact up to this number, unless the company wants them exact throughout. */
export const exactUpTo = 65_536
/** Bound of the error of an estimate. */
export const relativeError = 0.01

/**
 * The aggregates of a distinct count of a column of numbers. The estimate holds a set of bounded size and a sketch of
 * 2^20 registers, whose standard error is 0.1 %; of few numbers the set is the answer. Of one group it costs a fraction
 * of what an exact set of millions does; of many groups it costs more than small exact sets do.
 * @param condition SQL of which rows count
 * @param conditionColumns columns that it names
 */
export function distinctCount(
  column: string,
  condition = '',
  ...conditionColumns: readonly string[]
): Required<Pick<PlainMeasure, 'aggregate' | 'estimate'>> {
  const [suffix, rest] = condition === '' ? ['', ''] : ['If', `, ${condition}`]
  const columns = [column, ...conditionColumns]
  const seen = `toUInt64(length(groupUniqArray${suffix}(${exactUpTo + 1})(${column}${rest})))`
  const sketched = `uniqCombined64${suffix}(20)(${column}${rest})`
  return {
    aggregate: { sql: `uniqExact${suffix}(${column}${rest})`, columns },
    estimate: { sql: `if(${seen} > ${exactUpTo}, ${sketched}, ${seen})`, columns },
  }
}
