import { expect, test } from 'vitest'
import { SemaphoreFull } from '../limits/semaphore.ts'
import { deriveArgon2id, matchesArgon2id } from './argon2id.ts'
import {
  createPasswords,
  defaultCost,
  faultOfNewPassword,
  generatePassword,
  isPasswordTooLong,
} from './passwords.ts'

const cost = { memory: 64, passes: 1, lanes: 1 }

test('a hash is argon2id in the PHC format at the cost that OWASP recommends at least', async () => {
  const hash = await createPasswords().withHasher((hasher) => hasher.hash('secret'))
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(defaultCost.memory).toBeGreaterThanOrEqual(19_456)
})

test('verifies the test vector of the reference implementation', async () => {
  const vector = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  expect(await matchesArgon2id(deriveArgon2id, Buffer.from('password'), vector)).toBe(true)
  expect(await matchesArgon2id(deriveArgon2id, Buffer.from('Password'), vector)).toBe(false)
})

test('matches the password that was hashed, in either form of its letters, and nothing without a hash', async () => {
  const { withHasher } = createPasswords({ cost })
  const stored = await withHasher((hasher) => hasher.hash('Zo\u00eb \u00c5'))
  const matches = (password: string, hash: string | null) =>
    withHasher((hasher) => hasher.matches(password, hash))
  expect(await matches('Zoe\u0308 A\u030a', stored)).toBe(true)
  expect(await matches('Zoe A', stored)).toBe(false)
  expect(await matches('', null)).toBe(false)
  await expect(matches('x', 'plain text')).rejects.toThrow('PHC')
})

test('two hashes of one password differ, and a hash at another cost is outdated', async () => {
  const passwords = createPasswords({ cost })
  const [one, two] = await passwords.withHasher(async (hasher) => [
    await hasher.hash('x'),
    await hasher.hash('x'),
  ])
  expect(one).not.toBe(two)
  expect(passwords.isOutdated(one)).toBe(false)
  expect(createPasswords().isOutdated(one)).toBe(true)
  expect(passwords.isOutdated('x')).toBe(true)
})

test('lets four hash at once and 32 wait, refuses more, and goes on afterwards', async () => {
  const passwords = createPasswords({ cost })
  const release = Promise.withResolvers<void>()
  let inside = 0
  const visits = Array.from({ length: 40 }, () =>
    passwords
      .withHasher(async () => {
        inside++
        await release.promise
      })
      .then(
        () => 'done',
        (error: unknown) => (error instanceof SemaphoreFull ? 'refused' : error),
      ),
  )
  await Promise.resolve()
  expect(inside).toBe(4)
  expect(passwords.load()).toEqual({ running: 4, waiting: 32 })
  release.resolve()
  const outcomes = await Promise.all(visits)
  expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(4)
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(36)
  expect(passwords.load()).toEqual({ running: 0, waiting: 0 })
})

test('a visit that fails gives its place back', async () => {
  const passwords = createPasswords({ cost, places: 1, waitingPlaces: 0 })
  await expect(passwords.withHasher(async () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await passwords.withHasher(async () => 'yes')).toBe('yes')
})

test('bounds bytes, not characters', () => {
  expect(isPasswordTooLong('é'.repeat(2048))).toBe(false)
  expect(isPasswordTooLong('é'.repeat(2049))).toBe(true)
})

test.each([
  ['11 is short', /at least 12/],
  ['🐎🐢🐇🐁🐓🐖🐏🐕🐈🐒🐘', /at least 12/],
  ['x'.repeat(4097), /at most 4096/],
  ['aaaaaaaaaaaaa', /common/],
  ['PassWord2024!', /common/],
  ['123456789012', /common/],
  ['210987654321', /common/],
  ['abcdefghijkl', /common/],
  ['qwerty123456', /common/],
  ['Passwordpassword', /common/],
  ['abc123abc123', /common/],
  ['iloveyouiloveyou', /common/],
  ['1q2w3e4r5t6y', /common/],
  ['LetMeInLetMeIn', /common/],
  ['leavemealone', /common/],
  ['motherfucker', /common/],
  ['half a pair \ud800', /well-formed/],
  ['null \0 character', /U\+0000/],
])('a new password %j is refused', (password, fault) => {
  expect(faultOfNewPassword(password)).toMatch(fault)
})

test.each(['a field of 7 poppies', 'tulipgardenrain', '🐎🐢🐇🐁🐓🐖🐏🐕🐈🐒🐘🐪'])(
  'a new password %j is good, whatever it is made of',
  (password) => {
    expect(faultOfNewPassword(password)).toBeUndefined()
  },
)

test('generated passwords are good and differ', () => {
  const generated = Array.from({ length: 100 }, () => generatePassword())
  expect(new Set(generated).size).toBe(100)
  for (const password of generated) expect(faultOfNewPassword(password)).toBeUndefined()
})
