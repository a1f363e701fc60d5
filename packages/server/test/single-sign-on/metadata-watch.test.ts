import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { fingerprintOf } from '../../src/features/identity/single-sign-on/certificates/certificate-service.ts'
import { createMetadataWatch } from '../../src/features/identity/single-sign-on/metadata/metadata-watch.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { day, hour, minute, second } from '../support/fake-time.ts'
import { makeKey } from '../support/identity-provider.ts'
import { type Described, describe as describeProvider, signMetadata } from '../support/metadata.ts'
import { mapping, type OpenedSingleSignOn, openSession, openSingleSignOn } from '../support/single-sign-on.ts'

/** Metadata that was given by its address is read again each day. */

const config = '/v2/entities/sso/config'
const url = 'https://idp.example/metadata.xml'

type Key = Awaited<ReturnType<typeof makeKey>>

let opened: OpenedSingleSignOn
let [first, next, third, foreign] = [] as unknown as [Key, Key, Key, Key]

beforeAll(async () => {
  opened = await openSingleSignOn()
  await opened.app.auth.addUser('root@elsewhere.example', undefined, 'admin')
  ;[first, next, third, foreign] = await Promise.all([makeKey(), makeKey(), makeKey(), makeKey()])
})

afterAll(() => opened.close())

const pool = () => opened.relational.pool
const { documents, fetched } = { documents: new Map<string, string>(), fetched: [] as string[] }
/** Runs while a document is fetched. */
let meanwhile: (() => Promise<unknown>) | undefined
let underWay = 0
let maxUnderWay = 0

function createWatch() {
  const { enqueueMail, time } = opened.app.auth.parts
  return createMetadataWatch({
    relational: opened.relational,
    async fetchDocument(address) {
      fetched.push(address)
      maxUnderWay = Math.max(maxUnderWay, ++underWay)
      await new Promise((resolve) => setTimeout(resolve, 5))
      await meanwhile?.()
      underWay--
      const found = documents.get(address)
      if (found === undefined) throw new Error('idp.example cannot be reached')
      return found
    },
    recordAudit,
    enqueueMail,
    clock: time.clock,
    log: silentLogger,
  })
}

const look = () => createWatch().work()
/** As an administrator outside the domains, who signs in each time: days pass. */
async function call(method: 'GET' | 'PUT' | 'PATCH', body?: Record<string, unknown>) {
  const { access_token } = (await opened.app.auth.signIn('root@elsewhere.example')).json()
  return opened.call(method, config, body, access_token)
}

const read = async () => (await call('GET')).data
const patch = (body: Record<string, unknown>) => call('PATCH', body)
const later = (ms: number) => opened.app.auth.time.advance(ms)
const subjects = async () => (await opened.app.auth.takeMails()).map(({ to, subject }) => `${to}: ${subject}`)
const prints = async () =>
  ((await read()).idpCertificates as { fingerprint: string }[]).map(({ fingerprint }) => fingerprint)
const printsOf = (...keys: Key[]) => keys.map(({ certificate }) => fingerprintOf(certificate))

const publish = (described: Partial<Described>, ...keys: Key[]) =>
  documents.set(
    url,
    describeProvider({ ...described, certificates: keys.map(({ certificate }) => certificate) }),
  )

/** Audit entries of readings, the newest last. */
async function entries() {
  const { rows } = await pool().query(
    `select outcome, error, actor_kind, details from audit_entries where actor_kind = 'platform' order by at, id`,
  )
  return rows
}

/** Saved by its address, and required. */
async function configure(xml: string): Promise<void> {
  opened.app.seen.documents.set(url, xml)
  documents.set(url, xml)
  const saved = await call('PUT', { idpMetadataUrl: url, attributeMapping: mapping })
  expect(saved).toMatchObject({ code: 200 })
  await pool().query('update sso_configs set proven_at = now()')
  expect(await patch({ mandatory: true })).toMatchObject({ code: 200, data: { mandatory: true } })
  fetched.length = 0
  await opened.app.auth.takeMails()
}

describe('a document that is as it was', () => {
  test('is read a day later, once, and nothing else happens', async () => {
    await configure(describeProvider({ certificates: [first.certificate] }))
    const saved = await read()
    expect(saved).toMatchObject({ metadataError: null, metadataReadAt: expect.any(String) })
    await look()
    later(22 * hour)
    await look()
    expect(fetched).toEqual([])
    later(3 * hour)
    await look()
    expect(fetched).toEqual([url])
    await look()
    expect(fetched).toEqual([url])
    const { metadataReadAt, ...rest } = await read()
    const { metadataReadAt: before, ...same } = saved
    expect(rest).toEqual(same)
    expect(Date.parse(String(metadataReadAt))).toBeGreaterThan(Date.parse(String(before)) + 24 * hour)
    expect([await subjects(), await entries()]).toEqual([[], []])
  })

  test('is no business of ours when it was pasted', async () => {
    const { rows } = await pool().query('select metadata_next_at from sso_configs where metadata_url is null')
    expect(rows).toEqual([])
    await patch({ idpMetadataXml: describeProvider({ certificates: [first.certificate] }) })
    later(3 * day)
    fetched.length = 0
    await look()
    expect(fetched).toEqual([])
    expect(await read()).toMatchObject({ metadataReadAt: null, metadataError: null, mandatory: true })
  })
})

describe('a document with a new certificate', () => {
  beforeEach(() => configure(describeProvider({ certificates: [first.certificate] })))

  test('is taken over beside the old one; sign-on stays required, sessions stay, administrators get a mail', async () => {
    await openSession(opened.app, 'root@acme.example', 'sso')
    const { version } = (await pool().query('select version from sso_configs')).rows[0]
    publish({}, next)
    later(25 * hour)
    await look()
    expect(await read()).toMatchObject({ mandatory: true, provenAt: expect.any(String), metadataError: null })
    expect((await prints()).toSorted()).toEqual(printsOf(next, first).toSorted())
    expect((await subjects()).toSorted()).toEqual([
      'root@acme.example: New certificates of your identity provider',
      'root@elsewhere.example: New certificates of your identity provider',
    ])
    expect((await entries()).at(-1)).toMatchObject({
      outcome: 'success',
      details: { certificatesAdded: printsOf(next), certificatesRemoved: [], mandatory: true },
    })
    const { rows } = await pool().query(`select 1 from refresh_tokens where method = 'sso'`)
    expect(rows).not.toEqual([])
    // A sign-in under way is as good as before.
    expect((await pool().query('select version from sso_configs')).rows[0].version).toBe(version)
  })

  test('holds four at the most: those of the document, and of the others those that end last', async () => {
    const old = await Promise.all([makeKey(100), makeKey(300), makeKey(200)])
    await configure(describeProvider({ certificates: old.map(({ certificate }) => certificate) }))
    publish({}, first, next)
    later(25 * hour)
    await look()
    expect((await prints()).toSorted()).toEqual(
      printsOf(first, next, ...([old[1], old[2]] as Key[])).toSorted(),
    )
  })

  test('is refused when it is another provider’s, at another place or unusable, and said once', async () => {
    const cases: readonly (readonly [Partial<Described>, Key[], RegExp])[] = [
      [{ entityId: 'https://evil.example/metadata' }, [next], /another identity provider/],
      [{ signInUrl: 'https://evil.example/in' }, [next], /at another place than before, evil\.example/],
      [{}, [], /no certificate/],
    ]
    const before = (await entries()).length
    for (const [described, keys, reason] of cases) {
      publish(described, ...keys)
      later(25 * hour)
      await look()
      expect(String((await read()).metadataError)).toMatch(reason)
      expect((await entries()).at(-1)).toMatchObject({
        error: 'unusableMetadata',
        details: { reason: expect.stringMatching(reason) },
      })
    }
    expect(await prints()).toEqual(printsOf(first))
    expect(await read()).toMatchObject({ mandatory: true, idpSignInUrl: 'https://idp.example/in' })
    expect(await subjects()).toHaveLength(2)
    // The same again is no news.
    later(25 * hour)
    await look()
    expect((await entries()).length - before).toBe(cases.length)
    publish({ signInUrl: 'https://idp.example/elsewhere' }, first)
    later(25 * hour)
    await look()
    expect(await read()).toMatchObject({
      metadataError: null,
      idpSignInUrl: 'https://idp.example/elsewhere',
      mandatory: true,
    })
  })

  test('that is signed must be signed by a key that is known, and what is signed stays signed', async () => {
    const of = (...keys: Key[]) =>
      describeProvider({ certificates: keys.map(({ certificate }) => certificate) })
    documents.set(url, signMetadata(of(foreign), foreign.privateKey))
    later(25 * hour)
    await look()
    expect(await read()).toMatchObject({ metadataError: expect.stringMatching(/signature/), mandatory: true })
    documents.set(url, signMetadata(of(first, next), first.privateKey))
    later(25 * hour)
    await look()
    expect((await prints()).toSorted()).toEqual(printsOf(first, next).toSorted())
    // The new key vouches for the next one; a change after signing, or no signature, is refused.
    const signed = signMetadata(of(next, third), next.privateKey)
    for (const [wrong, reason] of [
      [signed.replace(of(third).slice(-40), ''), /XML|signature/],
      [signed.replace('https://idp.example/in', 'https://idp.example/on'), /signature/],
      [of(next, foreign), /no longer signed/],
    ] as const) {
      documents.set(url, wrong)
      later(25 * hour)
      await look()
      expect(String((await read()).metadataError)).toMatch(reason)
    }
    documents.set(url, signed)
    later(25 * hour)
    await look()
    expect((await prints()).toSorted()).toEqual(printsOf(first, next, third).toSorted())
  })
})

describe('a document that cannot be fetched', () => {
  test('is tried again after 15 minutes, then twice as long each time; the third failure is mailed, once', async () => {
    await configure(describeProvider({ certificates: [first.certificate] }))
    documents.delete(url)
    const waits = [25 * hour, 17 * minute, 34 * minute, 67 * minute, 3 * hour]
    const mails: number[] = []
    for (const wait of waits) {
      later(wait)
      await look()
      mails.push((await subjects()).length)
    }
    expect(mails).toEqual([0, 0, 2, 0, 0])
    expect(fetched).toHaveLength(waits.length)
    const state = await read()
    expect(state).toMatchObject({
      metadataError: 'it cannot be fetched: idp.example cannot be reached',
      mandatory: true,
    })
    later(minute)
    await look()
    expect(fetched).toHaveLength(waits.length)
    const failures = (await entries()).filter(({ details }) => String(details.reason).includes('be reached'))
    expect(failures).toHaveLength(1)
    publish({}, first)
    later(25 * hour)
    await look()
    expect(await read()).toMatchObject({ metadataError: null })
    const { rows } = await pool().query('select metadata_failures, metadata_notified_at from sso_configs')
    expect(rows).toEqual([{ metadata_failures: 0, metadata_notified_at: null }])
  })
})

test('another document that is saved while one is read stays', async () => {
  await configure(describeProvider({ certificates: [first.certificate] }))
  later(25 * hour)
  documents.set(url, describeProvider({ certificates: [next.certificate] }))
  const pasted = describeProvider({ certificates: [third.certificate] })
  meanwhile = async () => expect(await patch({ idpMetadataXml: pasted })).toMatchObject({ code: 200 })
  await look()
  meanwhile = undefined
  expect(fetched).toEqual([url])
  expect(await prints()).toEqual(printsOf(third))
  expect(await read()).toMatchObject({ idpMetadataUrl: null, metadataReadAt: null })
})

test('a process reads four at once, whatever number is due', async () => {
  await pool().query(
    `insert into companies (id, name) select lpad(i::text, 24, '0'), 'C' || i from generate_series(1, 13) i`,
  )
  await pool().query(
    `insert into sso_configs (company_id, version, metadata_xml, metadata_url, metadata_next_at, idp_entity_id,
       idp_sign_in_url, idp_certificates, attribute_mapping, provisioning)
     select lpad(i::text, 24, '0'), lpad(i::text, 24, '0'), '<x/>', 'https://c' || i || '.example', $1, 'e', 'https://e',
       array['none'], '{"email":"nameId"}', 'invitation' from generate_series(1, 13) i`,
    [new Date(opened.app.auth.time.clock.now() - second)],
  )
  fetched.length = 0
  maxUnderWay = 0
  await look()
  expect(new Set(fetched.filter((each) => each.startsWith('https://c'))).size).toBe(13)
  expect(maxUnderWay).toBe(4)
})
