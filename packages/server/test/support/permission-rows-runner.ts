import type { PermissionRows } from './permission-row.ts'
import { addWorkflow } from './permission-rows-workflows.ts'

/** Previews of workflows. */
export const runnerRows: PermissionRows = {
  previewWorkflow: {
    needs: 'workflow read',
    call: async (world) => ({
      path: `${(await addWorkflow(world)).path}/preview`,
      body: { entrypointId: 'zone' },
    }),
    stranger: 404,
    otherTeam: 404,
  },
}
