import { createQueryLimiter } from '../features/analytics/query/query-limiter.ts'
import { createLinkedAccountService } from '../features/linked-accounts/linked-account-service.ts'
import { createSavedQueries } from '../features/saved-queries/saved-queries.ts'
import type { Analytics } from './analytics.ts'
import type { Shared } from './shared.ts'

export function wireSavedQueries(
  shared: Shared,
  statistics: Pick<Analytics['statistics'], 'validate' | 'answer'>,
) {
  const linkedAccounts = createLinkedAccountService({
    ...shared,
    enter: createQueryLimiter({ running: 2, waiting: 4, what: 'test messages' }).enter,
  })
  return {
    linkedAccounts,
    savedQueries: createSavedQueries({
      ...shared,
      validateQuery: statistics.validate,
      answer: statistics.answer,
      listLinkedAccounts: linkedAccounts.listIds,
      sendMessage: linkedAccounts.deliver,
      rowsRoom: shared.contents.rowsRoom,
    }),
  }
}
