import { builtInEvents } from '@millrace/contract/events/names.ts'
import type { EventAlias } from '@millrace/contract/resources/event-alias.ts'
import { interactionNames } from '../../../database/workflow-columns.ts'
import { DomainError } from '../../../platform/errors.ts'
import { invalid } from '../../../platform/invalid.ts'
import { type ResourceContext, recorderOf, requireRoom } from '../../../platform/resources/resource.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import { createEventAliasStore } from './event-alias-store.ts'

/** Every query of a company is sent all of them. */
const maxAliases = 200

export type EventAliasService = ReturnType<typeof createEventAliasService>

/** Custom events that a company has renamed. */
export function createEventAliasService({ relational, recordAudit, lockCompany }: ResourceContext) {
  const record = recorderOf('event', recordAudit)

  return {
    list({ companyId }: Principal): Promise<EventAlias[]> {
      return createEventAliasStore(relational.db).list(companyId)
    },

    /** @throws DomainError `validation`, `eventAliasChain` or `tooManyEventAliases` */
    async set(caller: Caller, name: string, alias: string): Promise<EventAlias> {
      refuseBuiltIn('name', name)
      refuseBuiltIn('alias', alias)
      refuseInteraction(name)
      if (name === alias) {
        throw invalid(
          'alias',
          'must be another name; to have the event answer under its own, delete its alias',
        )
      }
      const { companyId } = caller.principal
      return relational.transaction(async (tx) => {
        const store = createEventAliasStore(tx)
        await lockCompany(tx, companyId)
        const present = await store.list(companyId)
        const known = present.find((each) => each.name === name)
        if (known?.alias === alias) return known
        refuseChain(present, name, alias)
        if (!known) requireRoom('tooManyEventAliases', maxAliases, present.length)
        await record(tx, caller, 'event-alias-set', { name }, { from: known?.alias ?? null, to: alias })
        return store.set(companyId, name, alias)
      })
    },

    /** @throws DomainError `eventAliasNotFound` */
    async delete(caller: Caller, name: string): Promise<void> {
      await relational.transaction(async (tx) => {
        const alias = await createEventAliasStore(tx).delete(caller.principal.companyId, name)
        if (alias === undefined) throw new DomainError('eventAliasNotFound', { name })
        await record(tx, caller, 'event-alias-delete', { name }, { from: alias })
      })
    },
  }
}

/** Other parts of the service go by the names of built-in events. */
function refuseBuiltIn(path: string, name: string): void {
  if (!builtInEvents.has(name)) return
  throw invalid(path, `must be the name of a custom event; "${name}" is a built-in one`)
}

/** Under another name its events would be credited no more; another event may be renamed to it. */
function refuseInteraction(name: string): void {
  if (!Object.values<string>(interactionNames).includes(name)) return
  throw invalid('name', `"${name}" credits purchases to workflows and keeps its name`)
}

/** One alias leads to the name that is shown: no reader follows several, and none can turn in a circle. */
function refuseChain(present: readonly EventAlias[], name: string, alias: string): void {
  const further = present.find((each) => each.name === alias)
  if (further) {
    const { alias: shown } = further
    const message = `"${alias}" answers as "${shown}" itself: choose that name, or delete that alias first`
    throw new DomainError('eventAliasChain', { name: alias, alias: shown }, { message })
  }
  const before = present.find((each) => each.alias === name)
  if (before) {
    const message = `"${before.name}" answers as "${name}": give it another alias first, or delete the one it has`
    throw new DomainError('eventAliasChain', { name: before.name, alias: name }, { message })
  }
}
