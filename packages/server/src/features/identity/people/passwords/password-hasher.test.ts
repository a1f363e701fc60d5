import { expect, test } from 'vitest'
import { createPasswords } from '../../../../platform/crypto/passwords.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { withHasher } from './password-hasher.ts'

const visit = { holders: ['192.0.2.1'] }
const cost = { memory: 64, passes: 1, lanes: 1 }

test('a caller who comes while too many wait is asked to try again', async () => {
  const passwords = createPasswords({ cost, places: 1, waitingPlaces: 1 })
  const done = Promise.withResolvers<void>()
  const inside = [1, 2].map(() => withHasher(passwords, visit, () => done.promise))
  await expect(withHasher(passwords, visit, () => done.promise)).rejects.toMatchObject({
    errorName: 'unavailable',
    retryAfterSeconds: 1,
  })
  const busy = (cause: unknown) => new DomainError('signInUnavailable', { retryAfter: 1 }, { cause })
  const visitor = { ...visit, refusal: busy }
  await expect(withHasher(passwords, visitor, () => done.promise)).rejects.toMatchObject({
    errorName: 'signInUnavailable',
  })
  done.resolve()
  await Promise.all(inside)
})

test('a failure of the work is not taken for a crowd', async () => {
  const passwords = createPasswords({ cost })
  await expect(withHasher(passwords, visit, () => Promise.reject(new Error('broken')))).rejects.toThrow(
    'broken',
  )
})
