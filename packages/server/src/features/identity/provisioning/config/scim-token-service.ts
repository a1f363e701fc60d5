import type { CreatedScimToken, ScimToken } from '@millrace/contract/resources/scim-token.ts'
import { auditEventOf } from '../../../../platform/audit.ts'
import { hashSecret, isSecret, newSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, normalizeId } from '../../../../platform/ids.ts'
import { found, withIsoDates } from '../../../../platform/resources/resource.ts'
import { requireNoUserAbove } from '../../people/roles/grants.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Principal } from '../../sessions/principal.ts'
import { createScimConfigStore } from './scim-config-store.ts'
import { createScimTokenStore, type TokenHolder } from './scim-token-store.ts'

const prefix = 'scim_'
const maxTokens = 2

export type ScimTokenService = ReturnType<typeof createScimTokenService>

/** SCIM tokens of a company's identity provider. */
export function createScimTokenService(
  dependencies: Pick<IdentityContext, 'relational' | 'recordAudit' | 'random'>,
) {
  const { relational, recordAudit, random } = dependencies
  return {
    async list({ companyId }: Pick<Principal, 'companyId'>): Promise<ScimToken[]> {
      return (await createScimTokenStore(relational.db).list(companyId)).map(withIsoDates)
    },

    /**
     * The holder of a token decides about every user of the company.
     * @throws DomainError `roleAboveOwn` or `tooManyScimTokens`
     */
    async create(principal: Principal, label: string, address: string): Promise<CreatedScimToken> {
      const { companyId } = principal
      const id = newId()
      const token = prefix + newSecret(random)
      const target = { kind: 'scim-token', id, name: label }
      const event = auditEventOf({ principal, address }, 'scim-token-create', target)
      const createdAt = await relational.transaction(async (tx) => {
        await createScimConfigStore(tx).lock(companyId)
        await requireNoUserAbove(tx, principal)
        const store = createScimTokenStore(tx)
        if ((await store.list(companyId)).length >= maxTokens) throw new DomainError('tooManyScimTokens')
        await recordAudit(tx, event)
        return store.insert({ id, companyId, label, tokenHash: hashSecret(token) })
      })
      return { id, label, createdAt: createdAt.toISOString(), lastUsedAt: null, token }
    },

    /** From the end of this call on every process refuses the token. @throws DomainError `scimTokenNotFound` */
    async revoke(principal: Principal, idText: string, address: string): Promise<void> {
      const { companyId } = principal
      const id = normalizeId(idText)
      await relational.transaction(async (tx) => {
        const name = found(await createScimTokenStore(tx).delete(companyId, id), 'scimTokenNotFound', id)
        const target = { kind: 'scim-token', id, name }
        await recordAudit(tx, auditEventOf({ principal, address }, 'scim-token-revoke', target))
      })
    },

    /**
     * The holder of a token; read from the store at every request, so that a revocation holds at once on every
     * process.
     */
    async findHolder(token: string): Promise<TokenHolder | undefined> {
      if (!token.startsWith(prefix) || !isSecret(token.slice(prefix.length))) return undefined
      return createScimTokenStore(relational.db).findHolder(hashSecret(token))
    },
  }
}
