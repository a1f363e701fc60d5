import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OpenedSingleSignOn, openSingleSignOn, personOf } from '../support/single-sign-on.ts'

/** People whom provisioning has given another address, and what single sign-on knows them by. */

let opened: OpenedSingleSignOn

beforeAll(async () => {
  opened = await openSingleSignOn()
})

afterAll(() => opened.close())

beforeEach(() => opened.forget())

const signIn = (nameId: string, email: string) => opened.signIn({ nameId, attributes: { email } })

async function renamed(
  user: { id: string; companyId: string; email: string },
  next: string,
): Promise<string> {
  const { lifecycle } = opened.app.auth.parts
  return lifecycle.transact((tx) =>
    lifecycle.rename(tx, user, next, 'f'.repeat(24), { actor: { kind: 'identity-provider' } }),
  )
}

const lastUser = async () => (await opened.app.finished()).at(-1)

test('a user whose NameID is the address signs in by the new one, in any letters', async () => {
  const user = await opened.app.auth.addUser('ada@acme.example')
  expect(await signIn('Ada@acme.example', 'ada@acme.example')).toBe('accepted')
  expect(await renamed(user, 'ada.king@acme.example')).toBe('renamed')
  for (const nameId of ['Ada.King@acme.example', 'ada.king@acme.example']) {
    opened.app.forget()
    expect(await signIn(nameId, 'Ada.King@acme.example')).toBe('accepted')
    expect(await lastUser()).toBe(user.id)
  }
})

test('so does one whose provider sends the address as a name of no format', async () => {
  const nameIdFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'
  const named = (nameId: string) => opened.signIn({ nameId, nameIdFormat, attributes: { email: nameId } })
  const user = await opened.app.auth.addUser('lee@acme.example')
  expect(await named('Lee@acme.example')).toBe('accepted')
  expect(await renamed(user, 'lee.wong@acme.example')).toBe('renamed')
  opened.app.forget()
  expect(await named('Lee.Wong@acme.example')).toBe('accepted')
  expect(await lastUser()).toBe(user.id)
  expect(await named('Lee@acme.example')).toBe('not-invited')
})

test('the former address opens the account of its next holder, and not the renamed one', async () => {
  const first = await opened.app.auth.addUser('jo@acme.example')
  expect(await signIn('jo@acme.example', 'jo@acme.example')).toBe('accepted')
  expect(await renamed(first, 'jo.senior@acme.example')).toBe('renamed')
  expect(await signIn('jo@acme.example', 'jo@acme.example')).toBe('not-invited')
  const next = await opened.app.auth.addUser('jo@acme.example')
  expect(await signIn('jo@acme.example', 'jo@acme.example')).toBe('accepted')
  expect(await lastUser()).toBe(next.id)
})

test('a person with another name there keeps it', async () => {
  const user = await opened.app.auth.addUser('sam@acme.example')
  expect(await opened.signIn(personOf('sam'))).toBe('accepted')
  expect(await renamed(user, 'samuel@acme.example')).toBe('renamed')
  expect(await signIn('sam', 'samuel@acme.example')).toBe('accepted')
  expect(await lastUser()).toBe(user.id)
  // The address alone opens nothing for another name.
  expect(await signIn('another person', 'samuel@acme.example')).toBe('other-identity')
})
