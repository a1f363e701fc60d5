import { expect, test } from 'vitest'
import { createPasswords } from '../../platform/passwords.ts'
import { atDesk, hashOther } from './password-setting.ts'

const cost = { memory: 64, passes: 1, lanes: 1 }

test('whoever comes while too many wait is told to try again', async () => {
  const passwords = createPasswords({ cost, places: 1, waitingPlaces: 1 })
  const done = Promise.withResolvers<void>()
  const inside = [atDesk(passwords, () => done.promise), atDesk(passwords, () => done.promise)]
  await expect(atDesk(passwords, () => done.promise)).rejects.toMatchObject({
    errorName: 'unavailable',
    retryAfterSeconds: 1,
  })
  done.resolve()
  await Promise.all(inside)
})

test('what fails at the desk is not taken for a crowd', async () => {
  const passwords = createPasswords({ cost })
  await expect(atDesk(passwords, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
})

test('a new password differs from the present one, if there is one', async () => {
  const passwords = createPasswords({ cost })
  await atDesk(passwords, async (desk) => {
    const present = await hashOther(desk, 'a field of 7 poppies', null, 'password')
    await expect(hashOther(desk, 'a field of 7 poppies', present, 'newPassword')).rejects.toMatchObject({
      errorName: 'validation',
      message: 'newPassword must differ from the present password',
    })
    expect(await hashOther(desk, 'ten thousand geese', present, 'newPassword')).toMatch(/^\$argon2id/)
  })
})
