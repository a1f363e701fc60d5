import type { OperationData } from '@millrace/sdk'
import { client } from '../../client.ts'
import { fitsOneBody } from './person-list.ts'
import type { CohortRule } from './rule-draft.ts'

export type Cohort = OperationData<'readCohort'>

/** What a form holds of a cohort. */
export interface CohortFields {
  readonly name: string
  readonly description: string
  readonly kind: 'rule' | 'list'
  readonly rule: CohortRule | undefined
  /** Undefined where the list stays as it is. */
  readonly persons: readonly string[] | undefined
}

const tagOf = (revision: number) => ({ 'if-match': `"${revision}"` })

export async function createCohort({
  name,
  description,
  kind,
  rule,
  persons = [],
}: CohortFields): Promise<Cohort> {
  if (kind === 'rule')
    return client.createCohort({ body: { name, description, ...(rule && { rule }) } as never })
  const fits = fitsOneBody(persons)
  const made = await client.createCohort({ body: { name, description, persons: fits ? [...persons] : [] } })
  if (fits) return made
  return replaceList(made, persons)
}

const replaceList = ({ id, revision }: Cohort, persons: readonly string[]): Promise<Cohort> =>
  client.replaceCohortMembers({
    params: { id },
    headers: tagOf(revision),
    body: { persons: [...persons] },
  })

/** @param before as it was read: its revision is the one that may be replaced */
export async function updateCohort(before: Cohort, fields: CohortFields): Promise<Cohort> {
  const { name, description, rule, persons } = fields
  const isRuleNew = rule !== undefined && JSON.stringify(rule) !== JSON.stringify(before.rule)
  const change = {
    ...(name !== before.name && { name }),
    ...(description !== before.description && { description }),
    ...(isRuleNew && { rule }),
  }
  const changed =
    Object.keys(change).length === 0
      ? before
      : await client.updateCohort({
          params: { id: before.id },
          headers: tagOf(before.revision),
          body: change as never,
        })
  return persons === undefined ? changed : replaceList(changed, persons)
}

export const deleteCohort = ({ id, revision }: Cohort) =>
  client.deleteCohort({ params: { id }, headers: tagOf(revision) })
