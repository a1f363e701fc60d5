import type { LinkedAccount } from '@millrace/contract/resources/linked-account.ts'
import type { Clock } from '../../platform/clock.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { DomainError } from '../../platform/errors.ts'
import { isId, newId, normalizeId } from '../../platform/ids.ts'
import { createSlidingWindow } from '../../platform/limits/window.ts'
import type { OutgoingClient } from '../../platform/outgoing/outgoing-client.ts'
import { OutgoingError } from '../../platform/outgoing/outgoing-error.ts'
import { type ResourceContext, recorderOf, requireRoom } from '../../platform/resources/resource.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import { createLinkedAccountStore, targetContext, type UserReference } from './linked-account-store.ts'
import { encodeMessage, faultOfTarget, type Message, type Target } from './linked-account-target.ts'

export interface LinkedAccountServiceDependencies extends Omit<ResourceContext, 'lockCompany'> {
  readonly box: Pick<SecretBox, 'seal' | 'open'>
  readonly outgoing: Pick<OutgoingClient, 'postJson'>
  readonly clock: Clock
  /** Waits for one of the company's places to send a test, and gives the function that leaves it. */
  readonly enter: (companyId: string) => Promise<() => void>
}

export interface AccountToLink extends Target {
  readonly name: string
}

const maxPerUser = 20
const attemptsPerHour = 30
const hourMs = 3_600_000
const maxEchoedIdLength = 128

export type LinkedAccountService = ReturnType<typeof createLinkedAccountService>

/** Places outside the service that a user has messages sent to. */
export function createLinkedAccountService(dependencies: LinkedAccountServiceDependencies) {
  const { relational, box, outgoing, clock, enter } = dependencies
  const record = recorderOf('linked-account', dependencies.recordAudit)
  const store = createLinkedAccountStore(relational.db)
  const attempts = createSlidingWindow(clock, hourMs, attemptsPerHour)

  async function send(target: Target, message: Message): Promise<void> {
    const { body, headers } = encodeMessage(message, target, clock.now())
    await outgoing.postJson(target.url, body, headers)
  }

  async function test({ name, ...target }: AccountToLink, { companyId, email }: Principal): Promise<void> {
    const leave = await enter(companyId)
    try {
      const text = `This is a test of Millrace: ${email} links this place as "${name}".`
      await send(target, { type: 'test', text })
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error
      const { fault, status, message: reason } = error
      const data = { reason, ...(status === undefined ? {} : { status }) }
      if (fault === 'refused') throw addressError(reason)
      throw new DomainError('linkedAccountTest', data, {
        message: `The test message was not taken, so nothing was linked: ${reason}`,
        cause: error,
      })
    } finally {
      leave()
    }
  }

  function requireAttempt(userId: string): void {
    const retryAfterSeconds = attempts.take(userId)
    if (retryAfterSeconds === 0) return
    throw new DomainError(
      'tooManyRequests',
      { retryAfter: retryAfterSeconds },
      {
        message: `You have tried to link an account ${attemptsPerHour} times within an hour, try again later`,
        retryAfterSeconds,
      },
    )
  }

  return {
    /** @throws DomainError `forbidden`, or `notFound` for an unknown user */
    async list(principal: Principal, wanted: string | undefined): Promise<LinkedAccount[]> {
      const userId = normalizeId(wanted ?? principal.userId)
      const user = { companyId: principal.companyId, userId }
      if (userId !== principal.userId) {
        if (!principal.can('user', 'read'))
          throw new DomainError('forbidden', { resource: 'user', action: 'read' })
        if (!(await store.hasUser(user)))
          throw new DomainError(
            'notFound',
            { id: userId },
            { message: 'There is no such user in your company' },
          )
      }
      return store.list(user)
    },

    /**
     * Links an account of the caller's own, once its address has taken a test message.
     * @throws DomainError `linkedAccountAddress`, `linkedAccountTest`, `tooManyLinkedAccounts` or `tooManyRequests`
     */
    async create(caller: Caller, wanted: AccountToLink): Promise<LinkedAccount> {
      const { principal } = caller
      const { companyId, userId } = principal
      const { name, ...address } = wanted
      const fault = faultOfTarget(address)
      if (fault !== undefined) throw addressError(fault)
      requireRoom('tooManyLinkedAccounts', maxPerUser, await store.count({ companyId, userId }))
      requireAttempt(userId)
      await test(wanted, principal)

      const id = newId()
      const host = new URL(address.url).host
      const sealedTarget = box.seal(
        JSON.stringify({ url: address.url, secret: address.secret }),
        targetContext(id),
      )
      return relational.transaction(async (tx) => {
        const within = createLinkedAccountStore(tx)
        // The user may have been deactivated during the test, which deletes linked accounts.
        if (!(await within.lockUser({ companyId, userId }))) throw new DomainError('unauthenticated')
        requireRoom('tooManyLinkedAccounts', maxPerUser, await within.count({ companyId, userId }))
        const { provider } = address
        const made = await within.insert({ id, companyId, userId, provider, name, host, sealedTarget })
        await record(tx, caller, 'linked-account-create', made, { provider, host, userId })
        return made
      })
    },

    /** Ids of the user's own linked accounts. */
    async listIds(user: UserReference): Promise<string[]> {
      return (await store.list(user)).map(({ id }) => id)
    },

    /**
     * Sends a message to a user's own linked account.
     * @returns false when there is none by this id
     * @throws OutgoingError when it was not taken
     */
    async deliver(user: UserReference, id: string, message: Message): Promise<boolean> {
      const found = await store.findTarget(user, id)
      if (!found) return false
      const { provider, sealedTarget } = found
      const opened = box.open(sealedTarget, targetContext(id)).toString('utf8')
      await send({ provider, ...(JSON.parse(opened) as Pick<Target, 'url' | 'secret'>) }, message)
      return true
    },

    /**
     * Deletes the caller's own, or with User: update that of a colleague; its credentials go along.
     * @param text any text; one that is no identifier finds nothing
     * @throws DomainError `linkedAccountNotFound`
     */
    async delete(caller: Caller, text: string): Promise<void> {
      const { principal } = caller
      const absent = new DomainError('linkedAccountNotFound', { id: text.slice(0, maxEchoedIdLength) })
      if (!isId(text)) throw absent
      const { companyId, userId } = principal
      const owner = principal.can('user', 'update') ? undefined : userId
      await relational.transaction(async (tx) => {
        const deleted = await createLinkedAccountStore(tx).delete(companyId, normalizeId(text), owner)
        if (!deleted) throw absent
        const { provider, host } = deleted
        await record(tx, caller, 'linked-account-delete', deleted, { provider, host, userId: deleted.userId })
      })
    },
  }
}

function addressError(reason: string): DomainError {
  return new DomainError(
    'linkedAccountAddress',
    { reason },
    { message: `This address cannot be linked: ${reason}` },
  )
}
