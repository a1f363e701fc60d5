import { companies } from '../../../database/tables/company.ts'
import { rolePermissions } from '../../../database/tables/role.ts'
import { teams } from '../../../database/tables/team.ts'
import { users } from '../../../database/tables/user.ts'
import { workflowTeams } from '../../../database/tables/workflow.ts'
import { type Queries, sqlOn } from '../../../platform/stores/relational.ts'
import type { VisibleWorkflows } from '../query/compile/compile-workflows.ts'

/** Who reads an answer: a user of the company, or nobody who still is one. */
export interface Reader {
  readonly companyId: string
  readonly readerId: string | null
}

/** Of which workflows an answer names what only their teams see. */
export type ReadVisibleWorkflows = (reader: Reader) => Promise<VisibleWorkflows>

/**
 * All of them for who is in every team, for who may change teams and so could join any, and where the company's setting
 * opens them. Else the workflows of the reader's teams: one that was deleted is of no team.
 */
export function createVisibleWorkflowsReader(db: Queries): ReadVisibleWorkflows {
  return async ({ companyId, readerId }) => {
    const rows = await sqlOn(db)<{ sees_all: boolean; workflow_ids: string[] }>`
      with reader as (
        select id, role_id from ${users} where id = ${readerId} and company_id = ${companyId}
      ), reachable as (
        select reachable_teams(reader.id) as team_id from reader
      )
      select company.shows_other_teams
          or exists (select 1 from reader join ${rolePermissions} as held on held.role_id = reader.role_id
            where held.resource = 'team' and held.action = 'update')
          or (exists (select 1 from reader) and not exists (select 1 from ${teams} as other
            where other.company_id = company.id and other.id not in (select team_id from reachable))) as sees_all,
        array(select distinct seen.workflow_id from ${workflowTeams} as seen
          where seen.company_id = company.id and seen.team_id in (select team_id from reachable)
          order by 1) as workflow_ids
      from ${companies} as company where company.id = ${companyId}`
    const [row] = rows
    return row?.sees_all ? 'all' : (row?.workflow_ids ?? [])
  }
}
