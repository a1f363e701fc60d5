import { DomainError } from '../../../../platform/errors.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { createConfigStore } from './config-store.ts'

/** Recovers access when the identity provider is unavailable. */
export function createRequirementService({
  relational,
  recordAudit,
}: Pick<IdentityContext, 'relational' | 'recordAudit'>) {
  return {
    /**
     * Passwords work again; the configuration stays as it is otherwise.
     * @returns whether single sign-on was required until now
     * @throws DomainError `singleSignOnNotFound`
     */
    async makeOptionalByOperator(companyId: string): Promise<{ wasMandatory: boolean }> {
      return relational.transaction(async (tx) => {
        const held = createConfigStore(tx)
        await createPeopleStore(tx).lockCompany(companyId)
        const config = await held.find(companyId)
        if (!config) throw new DomainError('singleSignOnNotFound')
        const { mandatory: wasMandatory, idpEntityId } = config
        if (!wasMandatory) return { wasMandatory }
        await held.setMandatory(companyId, false)
        await recordAudit(tx, {
          companyId,
          action: 'sso-config-update',
          actor: { kind: 'operator' },
          target: { kind: 'sso-config', id: companyId, name: idpEntityId },
          details: { mandatory: false },
        })
        return { wasMandatory }
      })
    },
  }
}
