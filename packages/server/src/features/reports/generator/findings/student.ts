import { studentSurvival } from '../../../../platform/distributions/student.ts'

/**
 * The probability that a value of Student's distribution lies further from 0 than `t`, on either side; 1 where the data
 * give no `t` or no degrees of freedom.
 */
export function twoSided(t: number, degrees: number): number {
  const pValue = 2 * studentSurvival(Math.abs(t), degrees)
  return Number.isNaN(pValue) ? 1 : pValue
}
