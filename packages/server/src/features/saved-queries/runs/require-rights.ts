import type { PermissionName } from '@millrace/contract/permissions.ts'
import type { createSavedQueryStore, Runner } from '../saved-query-store.ts'

/** Rights that are needed are gone; the message is for readers of the saved query. */
export class RightsLost extends Error {
  override readonly name = 'RightsLost'
}

/** The permission that sending results of a company needs. */
const neededRights: readonly PermissionName[] = ['statistics:access', 'statistics:export']
const rightNames: Readonly<Record<string, string>> = {
  'statistics:access': 'Statistics: access',
  'statistics:export': 'Statistics: export',
}

/**
 * Finds a user who may export results of the company at this moment.
 * @param who how messages call the user
 * @throws {RightsLost}
 */
export async function requireRights(
  store: Pick<ReturnType<typeof createSavedQueryStore>, 'findRunner'>,
  companyId: string,
  userId: string | null,
  who: string,
): Promise<Runner> {
  const runner = userId === null ? undefined : await store.findRunner(companyId, userId)
  if (!runner?.isActive) throw new RightsLost(`${who} is no longer an active user of the company`)
  for (const right of neededRights) {
    if (runner.permissions.has(right)) continue
    throw new RightsLost(`${who} no longer has the permission ${rightNames[right]}`)
  }
  return runner
}
