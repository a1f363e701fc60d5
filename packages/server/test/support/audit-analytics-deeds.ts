import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import type { Deed } from './audit-world.ts'

const settings = '/statistics/analytics/settings'

/** What is changed below the settings of statistics. */
export const analyticsDeeds = {
  'statistics-settings-update': async ({ people, ask, begin }) => {
    await begin(people)
    await ask(people, 'PATCH', settings, { attribution: { model: 'linear' } })
    return { actor: ['user', people.admin.id], target: ['company', people.companyId] }
  },
} satisfies Partial<Record<AuditAction, Deed>>
