import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  createSingleSignOnApp,
  type OpenedSingleSignOn,
  openSingleSignOn,
  type SingleSignOnApp,
} from '../support/single-sign-on.ts'

const domains = '/v2/entities/sso/domains'

let opened: OpenedSingleSignOn
let relational: Relational
let app: SingleSignOnApp
let call: OpenedSingleSignOn['call']

beforeAll(async () => {
  opened = await openSingleSignOn()
  ;({ relational, app, call } = opened)
})

afterAll(() => opened.close())

describe('domains', () => {
  const add = (domain: string) => call('POST', domains, { domain })

  test('a domain is verified by its record, and only then belongs to the company', async () => {
    const made = await add('Shop.Example')
    expect(made).toMatchObject({
      code: 200,
      data: {
        domain: 'shop.example',
        status: 'pending',
        recordName: '_millrace-challenge.shop.example',
        recordValue: expect.stringMatching(/^millrace-domain-verification=[\w-]{32}$/),
        loginUrl: 'https://millrace.example/v2/sso/saml/login?domain=shop.example',
      },
    })
    expect(await app.singleSignOn.domains.findSingleSignOn('shop.example')).toBeUndefined()
    const verify = `${domains}/${made.data.id.toUpperCase()}/verify`
    expect(await call('POST', verify)).toMatchObject({
      code: 409,
      error_code: 2045,
      data: { reason: 'there is no such record' },
    })
    app.seen.records.set('_millrace-challenge.shop.example', ['v=spf1 -all'])
    expect(await call('POST', verify)).toMatchObject({
      code: 409,
      data: { reason: expect.stringContaining('none holds') },
    })
    app.seen.records.set('_millrace-challenge.shop.example', ['v=spf1 -all', String(made.data.recordValue)])
    expect(await call('POST', verify)).toMatchObject({ code: 200, data: { status: 'verified' } })
    expect(await call('POST', verify)).toMatchObject({ code: 200 })
    expect(await app.singleSignOn.domains.findSingleSignOn('SHOP.example')).toEqual({
      companyId: app.auth.companyId,
      required: false,
    })
    for (const near of ['a.shop.example', 'xshop.example', 'example', ''])
      expect(await app.singleSignOn.domains.findSingleSignOn(near)).toBeUndefined()
    expect(await add('shop.example')).toMatchObject({ code: 409, error_code: 2044 })
    expect(await call('DELETE', `${domains}/${made.data.id}`)).toMatchObject({ code: 200, data: {} })
    expect(await call('DELETE', `${domains}/${made.data.id}`)).toMatchObject({ code: 404, error_code: 2043 })
    const trail = (await app.auth.auditTrail()).filter((entry) => entry.startsWith('sso-domain'))
    expect(trail.slice(-7)).toEqual([
      'sso-domain-add success',
      'sso-domain-verify failure',
      'sso-domain-verify failure',
      'sso-domain-verify success',
      'sso-domain-add failure',
      'sso-domain-remove success',
      'sso-domain-remove failure',
    ])
  })

  test.each([
    'gmail.com',
    'GMail.com',
    'localhost',
    '192.0.2.1',
    'a..b',
    '-a.example',
    'a b.example',
    'bücher.example',
    'acme.example.',
    '.example',
    "x' or 1=1.example",
    'a.example/x',
    '\u212Aelvin.example',
    'a_b.example',
  ])('%s is no domain that a company can own', async (domain) => {
    expect(await add(domain)).toMatchObject({ code: 400, error_code: 1 })
  })

  test('two companies may claim a domain; the first that shows it has it', async () => {
    const { companyId } = await relational.transaction((tx) => insertCompany(tx, 'Rival'))
    const admin = { companyId, email: 'root@rival.example', roleName: 'admin', teamNames: [] }
    await app.auth.accounts.createUser({ ...admin, password: 'a field of 7 poppies' })
    const rival = (await app.auth.signIn('root@rival.example')).json().access_token
    const [ours, theirs] = [
      await add('both.example'),
      await call('POST', domains, { domain: 'both.example' }, rival),
    ]
    expect(theirs.data.recordValue).not.toBe(ours.data.recordValue)
    app.seen.records.set('_millrace-challenge.both.example', [
      String(ours.data.recordValue),
      String(theirs.data.recordValue),
    ])
    expect(await call('POST', `${domains}/${ours.data.id}/verify`)).toMatchObject({ code: 200 })
    const late = await call('POST', `${domains}/${theirs.data.id}/verify`, undefined, rival)
    expect(late).toMatchObject({ code: 409, error_code: 2044 })
    const { rows } = await relational.pool.query(
      `select company_id, action, target_id, details from audit_entries where error = 'domainTaken'
       order by at desc, id desc limit 1`,
    )
    expect(rows).toEqual([
      {
        company_id: companyId,
        action: 'sso-domain-verify',
        target_id: theirs.data.id,
        details: { domain: 'both.example' },
      },
    ])
    await expect(app.singleSignOn.domains.verifyByOperator(companyId, 'both.example')).rejects.toMatchObject({
      errorName: 'domainTaken',
    })
    await call('DELETE', `${domains}/${ours.data.id}`)
  })

  test('E10 a store that does not answer is a failure, not a domain without single sign-on', async () => {
    const broken = await createTestDatabase()
    const alone = await createSingleSignOnApp(broken)
    await broken.pool.query('select 1')
    await alone.auth.app.close()
    await broken.close()
    await expect(alone.singleSignOn.domains.findSingleSignOn('acme.example')).rejects.toThrow()
  })
})
