import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createIdentityStore } from '../../src/features/identity/single-sign-on/sign-in/identity-store.ts'
import type { IdpPerson } from '../support/identity-provider.ts'
import {
  createBrowser,
  mapping,
  type OpenedSingleSignOn,
  openSession,
  openSingleSignOn,
  personOf,
  signInThrough,
  tokenOf,
} from '../support/single-sign-on.ts'

/** Names and addresses that change at the identity provider or here: no user is locked out or gets a second account. */

const config = '/v2/entities/sso/config'
const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'

let opened: OpenedSingleSignOn
/** Of an administrator whose address is of no domain of single sign-on. */
let outside: string

beforeAll(async () => {
  opened = await openSingleSignOn()
  outside = await tokenOf(opened.app.auth, 'root@elsewhere.example')
  const { rows } = await query(`select id from roles where name = 'viewer'`)
  const viewer = { provisioning: 'create', defaultRoleId: rows[0].id }
  expect(await opened.call('PATCH', config, viewer, outside)).toMatchObject({ code: 200 })
  await query(
    `with made as (insert into roles (id, company_id, name) values ('cccccccccccccccccccccccc', $1, 'Helpdesk') returning id)
     insert into role_permissions select id, 'user', unnest(array['read', 'update']) from made`,
    [opened.app.auth.companyId],
  )
})

afterAll(() => opened.close())

beforeEach(() => opened.forget())

const query = (text: string, values: unknown[] = []) => opened.relational.pool.query(text, values)
const add = (email: string, role?: string) => opened.app.auth.addUser(email, undefined, role)
const unlink = (id: string, as = outside) =>
  opened.call('DELETE', `/v2/entities/users/${id}/sso-link`, undefined, as)

const named = (nameId: string, email: string, format: string, more: IdpPerson['attributes'] = {}) => ({
  nameId,
  nameIdFormat: format,
  attributes: { email, ...more },
})

/** Who came in last. */
const lastUser = async () => (await opened.app.finished()).at(-1)

async function lastEntry(): Promise<{ details: Record<string, unknown>; error: string | null }> {
  const { rows } = await query(
    `select error, details from audit_entries where action = 'sso-sign-in' order by at desc, id desc limit 1`,
  )
  return rows[0]
}

async function methodsOf(id: string): Promise<string[]> {
  const { rows } = await query('select method from refresh_tokens where user_id = $1 order by 1', [id])
  return rows.map(({ method }) => method)
}

const countOf = async (where: string): Promise<number> =>
  (await query(`select count(*)::int as n from users where status <> 'deleted' and ${where}`)).rows[0].n

describe('unlinking', () => {
  test('a changed name is taken after it, sessions of single sign-on end with it and others stay', async () => {
    const { id } = await add('ann@acme.example')
    expect(await opened.signIn(personOf('ann'))).toBe('accepted')
    await openSession(opened.app, 'ann@acme.example', 'sso')
    await openSession(opened.app, 'ann@acme.example', 'password')
    expect(await opened.signIn(personOf('ann-2', { email: 'ann@acme.example' }))).toBe('other-identity')
    expect(await unlink(id)).toMatchObject({ code: 200, data: {} })
    expect(await methodsOf(id)).toEqual(['password'])
    const { rows } = await query(`select * from audit_entries where action = 'sso-unlink'`)
    expect(rows).toEqual([
      expect.objectContaining({ outcome: 'success', target_id: id, details: { names: 1, sessions: 1 } }),
    ])
    expect(await unlink(id)).toMatchObject({ code: 404, error_code: 2094, data: { id } })
    expect(await opened.signIn(personOf('ann-2', { email: 'ann@acme.example' }))).toBe('accepted')
    expect(await lastUser()).toBe(id)
  })

  test('a code that was not redeemed yet, and a sign-in that waits for consent, end with it', async () => {
    const { id } = await add('cody@acme.example')
    expect(await opened.signIn(personOf('cody'))).toBe('accepted')
    const { clientId } = opened.app.auth
    await query(
      `insert into authorization_codes (code_hash, user_id, client_id, redirect_uri, code_challenge, method, created_at, expires_at)
       select sha256('a'::bytea), $1, $2, 'https://x', 'c', 'sso', now(), now() + interval '1 minute'`,
      [id, clientId],
    )
    await query(
      `insert into pending_sign_ins (secret_hash, browser_hash, user_id, client_id, method, complete, created_at, expires_at)
       select sha256('b'::bytea), sha256('c'::bytea), $1, $2, 'sso', true, now(), now() + interval '1 minute'`,
      [id, clientId],
    )
    expect(await unlink(id)).toMatchObject({ code: 200 })
    for (const table of ['authorization_codes', 'pending_sign_ins'])
      expect((await query(`select 1 from ${table} where user_id = $1`, [id])).rows).toEqual([])
  })

  test('a person above the caller, of another company or unknown cannot be unlinked', async () => {
    const { id } = await add('boss@acme.example', 'admin')
    expect(await opened.signIn(personOf('boss'))).toBe('accepted')
    const desk = await tokenOf(opened.app.auth, 'desk@elsewhere.example', 'Helpdesk')
    expect(await unlink(id, desk)).toMatchObject({ code: 403, error_code: 2025 })
    expect(await unlink('f'.repeat(24))).toMatchObject({ code: 404, error_code: 2070 })
    const viewer = await tokenOf(opened.app.auth, 'viewer@elsewhere.example', 'viewer')
    expect(await unlink(id, viewer)).toMatchObject({ code: 403 })
    expect(await opened.signIn(personOf('boss', { email: 'x@acme.example' }))).toBe('accepted')
  })

  test('who unlinks themselves does not become an administrator by another address, even after more of the same', async () => {
    const { id: admin } = await add('chief@acme.example', 'admin')
    const { id: self } = await add('eve@acme.example', 'Helpdesk')
    const eve = (email: string, nameId = 'Eve-1') => named(nameId, email, persistent)
    expect(await opened.signIn(eve('eve@acme.example'))).toBe('accepted')
    const token = (await opened.app.auth.signIn('eve@acme.example')).json().access_token
    expect(await unlink(self, token)).toMatchObject({ code: 200 })
    expect(await opened.signIn(eve('chief@acme.example'))).toBe('other-identity')
    expect((await lastEntry()).details).toMatchObject({ userIds: [self, admin] })
    expect(await opened.signIn(eve('eve@acme.example'))).toBe('accepted')
    // Back and forth.
    expect(await unlink(self, token)).toMatchObject({ code: 200 })
    expect(await opened.signIn(eve('chief@acme.example'))).toBe('other-identity')
    // An administrator may let the name mean the other account.
    expect(await unlink(self)).toMatchObject({ code: 200 })
    expect(await unlink(self)).toMatchObject({ code: 404 })
    expect(await opened.signIn(eve('chief@acme.example'))).toBe('accepted')
    expect(await lastUser()).toBe(admin)
  })

  test('a name from before formats were kept is no way around that, whatever its case', async () => {
    await add('head@acme.example', 'admin')
    const { id: self } = await add('mal@acme.example', 'Helpdesk')
    const mal = (email: string) => named('MAL', email, persistent)
    expect(await opened.signIn(mal('mal@acme.example'))).toBe('accepted')
    await query('update sso_identities set name_format = null where user_id = $1', [self])
    const token = (await opened.app.auth.signIn('mal@acme.example')).json().access_token
    expect(await unlink(self, token)).toMatchObject({ code: 200 })
    expect(await opened.signIn(mal('head@acme.example'))).toBe('other-identity')
  })

  test('the last administrator who can sign in stays linked', async () => {
    const { rows } = await query(`select id from users where email = 'root@acme.example'`)
    expect(await opened.signIn(personOf('root'))).toBe('accepted')
    await query(
      `update users set password_hash = null where role_id in (select id from roles where name = 'admin')`,
    )
    await query(`delete from sso_identities where user_id <> $1`, [rows[0].id])
    expect(await unlink(rows[0].id)).toMatchObject({
      code: 409,
      error_code: 2023,
      message: expect.stringMatching(/sign in through the identity provider/),
    })
    expect(await opened.signIn(personOf('root', { email: 'other@acme.example' }))).toBe('accepted')
  })
})

describe('names that are addresses', () => {
  test('are the same whatever the case, new ones and those from before', async () => {
    const { id } = await add('kim@acme.example')
    expect(await opened.signIn(named('Kim@ACME.example', 'kim@acme.example', emailFormat))).toBe('accepted')
    expect(await opened.signIn(named('kim@acme.Example', 'kim@acme.example', emailFormat))).toBe('accepted')
    await query(
      `update sso_identities set name_id = 'KIM@Acme.example', name_format = null where user_id = $1`,
      [id],
    )
    expect(await opened.signIn(named('kIm@acme.example', 'moved@acme.example', emailFormat))).toBe('accepted')
    expect(await lastUser()).toBe(id)
    const { rows } = await query('select name_id, name_format from sso_identities where user_id = $1', [id])
    expect(rows).toEqual([{ name_id: 'KIM@Acme.example', name_format: 'email' }])
  })

  test('only A to Z are folded: the Kelvin sign is no k', async () => {
    const { id } = await add('kai@acme.example')
    expect(await opened.signIn(named('kai@acme.example', 'kai@acme.example', emailFormat))).toBe('accepted')
    const kelvin = named('\u212Aai@acme.example', 'other-kai@acme.example', emailFormat)
    expect(await opened.signIn(kelvin)).toBe('accepted')
    expect(await lastUser()).not.toBe(id)
    const dotted = named('KA\u0130@acme.example', 'third-kai@acme.example', emailFormat)
    expect(await opened.signIn(dotted)).toBe('accepted')
    expect(await lastUser()).not.toBe(id)
  })

  test.each([persistent, 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'])(
    'names of the format %s stay exact',
    async (format) => {
      const name = `Opaque-${format.slice(-4)}`
      await add(`${name}@acme.example`.toLowerCase())
      const email = `${name}@acme.example`
      expect(await opened.signIn(named(name, email, format))).toBe('accepted')
      expect(await opened.signIn(named(name.toLowerCase(), email, format))).toBe('other-identity')
      expect(await opened.signIn(named(name.toLowerCase(), email, emailFormat))).toBe('other-identity')
    },
  )

  test('two names from before that differ in case alone are refused, but for the exact one', async () => {
    const [one, two] = [await add('one@acme.example'), await add('two@acme.example')]
    await query(
      `insert into sso_identities (company_id, idp_entity_id, name_id, user_id)
       values ($1, $2, 'Same@acme.example', $3), ($1, $2, 'SAME@acme.example', $4)`,
      [opened.app.auth.companyId, opened.idp.entityId, one.id, two.id],
    )
    const same = named('same@acme.example', 'same@acme.example', emailFormat)
    expect(await opened.signIn(same)).toBe('ambiguous-person')
    expect((await lastEntry()).details.userIds).toHaveLength(2)
    expect(await unlink(two.id)).toMatchObject({ code: 200 })
    expect(await opened.signIn(same)).toBe('accepted')
    expect(await lastUser()).toBe(one.id)
  })
})

describe('people who are renamed', () => {
  test('by an address that is name and address, here too: the link follows', async () => {
    const { id } = await add('maiden@acme.example')
    expect(await opened.signIn(named('maiden@acme.example', 'maiden@acme.example', emailFormat))).toBe(
      'accepted',
    )
    await query(`update users set email = 'married@acme.example' where id = $1`, [id])
    expect(await opened.signIn(named('Married@acme.example', 'married@acme.example', emailFormat))).toBe(
      'accepted',
    )
    expect(await lastUser()).toBe(id)
    expect((await lastEntry()).details).toMatchObject({ isLinked: true, formerName: 'maiden@acme.example' })
    // The former name, given to another person, is no way to the account.
    expect(await opened.signIn(named('maiden@acme.example', 'maiden@acme.example', emailFormat))).toBe(
      'former-address',
    )
    expect((await lastEntry()).details).toMatchObject({
      userIds: [id],
      remedy: expect.stringMatching(/invite/),
    })
    expect(await countOf(`email = 'maiden@acme.example'`)).toBe(0)
  })

  test('with a name that stays: the account stays, and the log tells of the other address', async () => {
    const { id } = await add('stay@acme.example')
    expect(await opened.signIn(named('S-1', 'stay@acme.example', persistent))).toBe('accepted')
    expect(await opened.signIn(named('S-1', 'went@acme.example', persistent))).toBe('accepted')
    expect(await lastUser()).toBe(id)
    expect((await lastEntry()).details).toMatchObject({ otherAddress: 'went@acme.example' })
    expect(await countOf(`email = 'went@acme.example'`)).toBe(0)
  })

  test('here, before the first sign-in: the address of before makes no second account', async () => {
    const { id } = await add('before@acme.example')
    await query(`update users set email = 'after@acme.example' where id = $1`, [id])
    expect(await opened.signIn(personOf('before'))).toBe('former-address')
    expect(await opened.signIn(personOf('before', { email: 'after@acme.example' }))).toBe('accepted')
    expect(await lastUser()).toBe(id)
    // Once a user is invited under that address, it is theirs.
    const other = await add('before@acme.example')
    expect(await opened.signIn(personOf('before-2', { email: 'before@acme.example' }))).toBe('accepted')
    expect(await lastUser()).toBe(other.id)
  })

  test('at the identity provider alone: the same name in full, or a name that is a known address, is not a new user', async () => {
    const names = { firstName: 'Grace', lastName: 'Hopper' }
    expect(await opened.signIn(named('grace@acme.example', 'grace@acme.example', emailFormat, names))).toBe(
      'accepted',
    )
    const id = (await lastUser()) ?? ''
    const renamed = named('g.hopper@acme.example', 'g.hopper@acme.example', emailFormat, {
      firstName: 'GRACE',
      lastName: 'Hopper',
    })
    const browser = createBrowser(opened.app)
    opened.idp.state.person = renamed
    const page = await signInThrough(opened.app, opened.idp, 'acme.example', browser)
    expect(opened.app.seen.outcomes.at(-1)).toBe('possible-duplicate')
    expect(page.statusCode).toBe(403)
    expect(page.body).toMatch(/administrator of your company can unlink or rename/)
    expect(await lastEntry()).toMatchObject({
      error: 'singleSignOnRefused',
      details: { userIds: [id], remedy: expect.stringMatching(/rename the user/) },
    })
    await query(`update users set email = 'g.hopper@acme.example' where id = $1`, [id])
    expect(await opened.signIn(renamed)).toBe('accepted')
    expect(await lastUser()).toBe(id)

    await add('known@acme.example')
    expect(await opened.signIn(named('known@acme.example', 'new-mail@acme.example', emailFormat))).toBe(
      'possible-duplicate',
    )
    // A namesake whom an administrator has invited is another user.
    const other = await add('other-grace@acme.example')
    expect(await opened.signIn(named('g-2', 'other-grace@acme.example', persistent, names))).toBe('accepted')
    expect(await lastUser()).toBe(other.id)
  })

  test('a user whom another response has just made is no namesake of themselves', async () => {
    await add('twin@acme.example')
    await query(`update users set first_name = 'Ty', last_name = 'Twin' where email = 'twin@acme.example'`)
    const place = { companyId: opened.app.auth.companyId, idpEntityId: opened.idp.entityId }
    const said = { firstName: 'Ty', lastName: 'Twin', jobTitle: '', phone: '', language: null }
    const claims = { ...said, nameId: 'ty', nameFormat: 'other', externalId: undefined } as const
    const store = createIdentityStore(opened.relational.db, place)
    expect(await store.listNamesakes({ ...claims, email: 'twin@acme.example' })).toEqual([])
    expect(await store.listNamesakes({ ...claims, email: 'ty@acme.example' })).toHaveLength(1)
  })

  test('a page in French says it, too', async () => {
    const { id } = await add('vieux@acme.example')
    await query(`update users set email = 'neuf@acme.example' where id = $1`, [id])
    opened.idp.state.person = personOf('vieux')
    const browser = createBrowser(opened.app)
    const { url } = await browser.start({ domain: 'acme.example', lang: 'fr' })
    const { samlResponse } = await opened.idp.answer(url)
    const reply = await browser.follow(
      await browser.post(opened.app.auth.companyId, { SAMLResponse: samlResponse }),
    )
    expect(reply.body).toMatch(/peut dissocier ou renommer ce compte/)
  })
})

describe('an identifier that never changes', () => {
  const said = (
    externalId: string | string[],
    nameId: string,
    email: string,
    more: IdpPerson['attributes'] = {},
  ) => named(nameId, email, emailFormat, { externalId, ...more })

  beforeAll(async () => {
    const attributeMapping = { ...mapping, externalId: 'attributes.externalId' }
    expect(await opened.call('PATCH', config, { attributeMapping }, outside)).toMatchObject({ code: 200 })
  })

  test('finds the person under another name and address', async () => {
    const { id } = await add('lin@acme.example')
    expect(await opened.signIn(said('E1', 'lin@acme.example', 'lin@acme.example'))).toBe('accepted')
    expect(await opened.signIn(said('E1', 'lin.z@acme.example', 'lin.z@acme.example'))).toBe('accepted')
    expect(await lastUser()).toBe(id)
    expect((await lastEntry()).details).toMatchObject({
      formerName: 'lin@acme.example',
      otherAddress: 'lin.z@acme.example',
    })
    expect(await countOf(`email = 'lin.z@acme.example'`)).toBe(0)
  })

  test('finds a user whom provisioning keeps', async () => {
    const { id } = await add('kept@acme.example')
    await query(`update users set provisioned = true, external_id = 'E2' where id = $1`, [id])
    expect(await opened.signIn(said('E2', 'k@acme.example', 'k@acme.example'))).toBe('accepted')
    expect(await lastUser()).toBe(id)
  })

  test('keeps a name or an address that was given to another person from the account', async () => {
    const { id } = await add('pat@acme.example')
    expect(await opened.signIn(said('E3', 'pat@acme.example', 'pat@acme.example'))).toBe('accepted')
    expect(await opened.signIn(said('E4', 'pat@acme.example', 'pat@acme.example'))).toBe('other-identity')
    expect(await opened.signIn(said('E4', 'pat-2@acme.example', 'pat@acme.example'))).toBe('other-identity')
    expect((await lastEntry()).details).toMatchObject({ userIds: [id] })
  })

  test('is refused where it and the address lead to two people', async () => {
    const { id } = await add('quinn@acme.example')
    expect(await opened.signIn(said('E5', 'quinn@acme.example', 'quinn@acme.example'))).toBe('accepted')
    const other = await add('q@acme.example')
    expect(await opened.signIn(said('E5', 'q@acme.example', 'q@acme.example'))).toBe('ambiguous-person')
    expect((await lastEntry()).details).toMatchObject({ userIds: [id, other.id] })
  })

  test('tells namesakes apart, and people of other companies are not told of', async () => {
    const names = { firstName: 'John', lastName: 'Smith' }
    expect(await opened.signIn(said('E6', 'j1@acme.example', 'j1@acme.example', names))).toBe('accepted')
    expect(await opened.signIn(said('E7', 'j2@acme.example', 'j2@acme.example', names))).toBe('accepted')
    expect(await countOf(`last_name = 'Smith'`)).toBe(2)
    await query(`insert into companies (id, name) values ('dddddddddddddddddddddddd', 'Other')`)
    await query(
      `insert into roles (id, company_id, name) values ('eeeeeeeeeeeeeeeeeeeeeeee', 'dddddddddddddddddddddddd', 'r')`,
    )
    await query(
      `insert into users (id, company_id, email, status, role_id, external_id)
       values ('ffffffffffffffffffffffff', 'dddddddddddddddddddddddd', 'far@acme.example', 'active', 'eeeeeeeeeeeeeeeeeeeeeeee', 'E9')`,
    )
    expect(await opened.signIn(said('E8', 'far@acme.example', 'far@acme.example'))).toBe('other-company')
    expect((await lastEntry()).details.userIds).toBeUndefined()
    expect(await opened.signIn(said('E9', 'near@acme.example', 'near@acme.example'))).toBe('accepted')
    expect(await lastUser()).not.toBe('ffffffffffffffffffffffff')
  })

  test('given twice it is none', async () => {
    const { id } = await add('twice@acme.example')
    expect(await opened.signIn(said(['E1', 'E10'], 'twice@acme.example', 'twice@acme.example'))).toBe(
      'accepted',
    )
    expect(await lastUser()).toBe(id)
    const { rows } = await query('select external_id from sso_identities where user_id = $1', [id])
    expect(rows).toEqual([{ external_id: null }])
  })
})
