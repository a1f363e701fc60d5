import { expect, test } from 'vitest'
import { createPasswords } from '../../../../platform/crypto/passwords.ts'
import { withHasher } from './password-hasher.ts'
import { hashOther } from './password-setting.ts'

const cost = { memory: 64, passes: 1, lanes: 1 }

test('a new password differs from the present one, if there is one', async () => {
  const passwords = createPasswords({ cost })
  await withHasher(passwords, { holders: [] }, async (hasher) => {
    const present = await hashOther(hasher, 'a field of 7 poppies', null, 'password')
    await expect(hashOther(hasher, 'a field of 7 poppies', present, 'newPassword')).rejects.toMatchObject({
      errorName: 'validation',
      message: 'newPassword must differ from the present password',
    })
    expect(await hashOther(hasher, 'ten thousand geese', present, 'newPassword')).toMatch(/^\$argon2id/)
  })
})
