import type { Warning } from '@millrace/contract/envelope.ts'
import { parameterUse } from '@millrace/contract/operations/workflows.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Relational } from '../../../platform/stores/relational.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import { createWorkflowStore } from '../workflow-store.ts'
import {
  type ParameterStatement,
  type UsedWhere,
  usedParameters,
  valuesOfParameters,
} from './parameter-statements.ts'

export interface ParameterServiceDependencies {
  readonly relational: Pick<Relational, 'db'>
  /** Cells of the rows of a statement, within the limits of the company's queries. */
  readonly runStatement: (
    asked: { readonly companyId: string; readonly userId: string; readonly signal: AbortSignal },
    statement: ParameterStatement,
  ) => Promise<readonly (readonly unknown[])[]>
  readonly clock: Clock
}

export interface ParameterValues {
  readonly values: Record<string, string[]>
  readonly warnings: readonly Warning[]
}

export interface UsedParameters {
  readonly parameters: { name: string; uses: number }[]
  readonly warnings: readonly Warning[]
}

export type ParameterService = ReturnType<typeof createParameterService>

/** Workflows that one statement names. */
const maxWorkflows = 8_000
const dayMs = 86_400_000

/** With which parameters addresses of workflows were asked for (docs/workflows.md, Parameters in use). */
export function createParameterService({ relational, runStatement, clock }: ParameterServiceDependencies) {
  /** Undefined where the caller sees no workflow. */
  async function findWhere(
    principal: Principal,
  ): Promise<{ where: UsedWhere; warnings: Warning[] } | undefined> {
    const { companyId } = principal
    const ids = await createWorkflowStore(relational.db).listIds(principal, maxWorkflows + 1)
    if (ids.length === 0) return undefined
    const since = new Date(clock.now() - parameterUse.days * dayMs)
    const warnings: Warning[] = []
    if (ids.length > maxWorkflows) {
      const message = `your teams see more than ${maxWorkflows} workflows: only those that were changed last are counted`
      warnings.push({ path: '', message })
    }
    return { where: { companyId, workflowIds: ids.slice(0, maxWorkflows), since }, warnings }
  }

  return {
    /** Operation 12: a name that was never used has no values. */
    async listValues(
      principal: Principal,
      names: readonly string[],
      signal: AbortSignal,
    ): Promise<ParameterValues> {
      const values = new Map<string, string[]>(names.map((name) => [name, []]))
      const found = await findWhere(principal)
      const warnings = found?.warnings ?? []
      if (found) {
        const limit = parameterUse.values
        const statement = valuesOfParameters(found.where, [...values.keys()], limit + 1)
        for (const [name, value] of await runStatement({ ...principal, signal }, statement)) {
          values.get(String(name))?.push(String(value))
        }
        for (const [name, all] of values) {
          if (all.length <= limit) continue
          all.length = limit
          const message = `the parameter "${name}" has more values: these are the first ${limit}`
          warnings.push({ path: `name.${names.indexOf(name)}`, message })
        }
      }
      return { values: Object.fromEntries(values), warnings }
    },

    /** Names of parameters, those used most first. */
    async listUsed(principal: Principal, signal: AbortSignal): Promise<UsedParameters> {
      const found = await findWhere(principal)
      if (!found) return { parameters: [], warnings: [] }
      const limit = parameterUse.names
      const rows = await runStatement({ ...principal, signal }, usedParameters(found.where, limit + 1))
      const { warnings } = found
      if (rows.length > limit) {
        warnings.push({ path: '', message: `there are more parameters: these are the ${limit} used most` })
      }
      const parameters = rows
        .slice(0, limit)
        .map(([name, uses]) => ({ name: String(name), uses: Number(uses) }))
      return { parameters, warnings }
    },
  }
}
