import { CohortRule, cohortLimits } from '@millrace/contract/resources/cohort.ts'
import { DomainError } from '../../../platform/errors.ts'
import { compileValidator, validationError } from '../../../platform/http/validation.ts'

const validate = compileValidator({ schema: { ...CohortRule }, method: 'POST', url: '', httpPart: 'body' })

interface Level {
  readonly rule: unknown
  readonly path: string
  readonly depth: number
}

/**
 * Holds a rule against the contract, level by level: its schema describes one level.
 * @throws {DomainError} `validation` naming the first fault, or `tooComplex` for a rule beyond its bounds
 */
export function validateRule(rule: CohortRule): void {
  let conditions = 0
  const left: Level[] = [{ rule, path: 'rule', depth: 1 }]
  for (;;) {
    const level = left.pop()
    if (!level) return
    const { path, depth } = level
    const checked = validateLevel(level)
    const inner = (['and', 'or'] as const).flatMap((kind) =>
      (checked[kind] ?? []).map((each, i) => ({
        rule: each,
        path: `${path}.${kind}.${i}`,
        depth: depth + 1,
      })),
    )
    if (checked.not) inner.push({ rule: checked.not, path: `${path}.not`, depth: depth + 1 })
    if (inner.length === 0) conditions++
    if (depth > cohortLimits.depth || conditions > cohortLimits.conditions) {
      const bounds = `${cohortLimits.depth} levels deep and have ${cohortLimits.conditions} conditions`
      throw new DomainError('tooComplex', {}, { message: `A rule may be ${bounds}, not more` })
    }
    left.push(...inner.reverse())
  }
}

function validateLevel({ rule, path }: Level): CohortRule {
  const result = validate(rule) as { value: CohortRule } | { error: DomainError<'validation'> }
  if ('value' in result) return result.value
  const [fault] = result.error.data.errors
  const at = fault === undefined || fault.path === 'the body' ? path : `${path}.${fault.path}`
  throw validationError([{ path: at, message: fault?.message ?? 'is not valid' }])
}
