import { hashSecret } from '../../../../platform/crypto/secrets.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { authenticatorContext, createAuthenticatorStore } from './authenticator-store.ts'
import { matchingStep } from './totp.ts'

/** How a code was right: from the authenticator, or one of the recovery codes. */
export type CodeKind = 'authenticator' | 'recovery'

/** Recovery codes are read however they were copied: in capitals, with or without their hyphens. */
export function hashRecoveryCode(code: string): Buffer {
  return hashSecret(`recovery\0${code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`)
}

/** Longer texts are no code of either kind. */
const maxCodeLength = 40

export type SecondFactor = ReturnType<typeof createSecondFactor>

/** One-time codes of users who turned them on. */
export function createSecondFactor({ box, clock }: Pick<IdentityContext, 'box' | 'clock'>) {
  return {
    /** Takes a code once; undefined for one that is wrong or was taken before. */
    async take(db: Queries, userId: string, text: string): Promise<CodeKind | undefined> {
      const code = text.trim()
      if (code.length > maxCodeLength) return undefined
      const store = createAuthenticatorStore(db)
      const stored = await store.find(userId)
      if (!stored?.isConfirmed) return undefined
      const secret = box.open(stored.sealedSecret, authenticatorContext(userId))
      const step = matchingStep(secret, code.replaceAll(' ', ''), clock.now())
      if (step !== undefined) return (await store.takeStep(userId, step)) ? 'authenticator' : undefined
      return (await store.takeRecoveryCode(userId, hashRecoveryCode(code))) ? 'recovery' : undefined
    },
  }
}
